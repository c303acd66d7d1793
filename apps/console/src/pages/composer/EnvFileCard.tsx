import type { ComposeProblem } from '@crux/compose'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { type ComposerDraft, canRename, type DraftFile, setText } from '../../composer/composer-draft.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { FileEditor } from './FileEditor.tsx'
import type { JumpTarget } from './use-jump.ts'
import { useRemoveFile } from './use-remove-file.ts'

const RenameFile = lazyComponent(async () => (await import('./RenameFile.tsx')).RenameFile)

type Props = {
  draft: ComposerDraft
  file: DraftFile
  onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void
  problems: readonly ComposeProblem[]
  target: JumpTarget | null
}

/** One `.env` file. The default one has a fixed name and stays. */
export function EnvFileCard({ draft, file, onChange, problems, target }: Props) {
  const { t } = useTranslation('composer')
  const [renaming, setRenaming] = useState(false)
  const remove = useRemoveFile(onChange)
  const isDefault = !canRename(draft, file.id)
  return (
    <Box
      label={file.name}
      title={<span className="mono">{file.name}</span>}
      trailing={<span className="text-small">{t(isDefault ? 'env.default' : 'env.named')}</span>}
      actions={
        !isDefault && (
          <>
            <IconButton icon={Pencil} label={t('files.rename', file)} onClick={() => setRenaming(true)} />
            <IconButton icon={Trash2} label={t('files.remove', file)} onClick={() => void remove('envFiles', file)} />
          </>
        )
      }
    >
      <FileEditor
        file={file}
        language="env"
        problems={problems}
        target={target}
        onChange={(text) => onChange((before) => setText(before, file.id, text))}
      />
      {renaming && <RenameFile draft={draft} file={file} onChange={onChange} onClose={() => setRenaming(false)} />}
    </Box>
  )
}
