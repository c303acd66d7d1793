import type { ComposeProblem } from '@crux/compose'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { DraftFile } from '../../composer/composer-draft.ts'
import { loadChunk } from '../../loading/load-chunk.ts'
import type { JumpTarget } from './use-jump.ts'

const CodeEditor = lazy(async () => ({ default: (await loadChunk(() => import('./CodeEditor.tsx'))).CodeEditor }))

type Props = {
  file: DraftFile
  language: 'yaml' | 'env'
  problems: readonly ComposeProblem[]
  target: JumpTarget | null
  hidden?: boolean
  onChange: (text: string) => void
}

/** The editor of one file, with the problems that are in it. */
export function FileEditor({ file, language, problems, target, hidden, onChange }: Props) {
  const { t } = useTranslation('composer')
  const own = useMemo(() => problems.filter((problem) => problem.file === file.name), [problems, file.name])
  return (
    <Suspense fallback={hidden ? null : <div className="skeleton m-3 h-64" />}>
      <CodeEditor
        label={file.name}
        language={language}
        value={file.text}
        onChange={onChange}
        problems={own}
        target={target?.fileId === file.id ? target : null}
        placeholder={t(language === 'yaml' ? 'files.placeholder' : 'env.placeholder')}
        hidden={hidden}
      />
    </Suspense>
  )
}
