import { FileInput } from 'lucide-react'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import type { ComposerDraft } from '../../composer/composer-draft.ts'
import { useAddFiles } from './use-add-files.ts'

type Props = { draft: ComposerDraft; onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void }

/** Opens compose and `.env` files of this machine. */
export function ChooseFiles({ draft, onChange }: Props) {
  const { t } = useTranslation('composer')
  const input = useRef<HTMLInputElement>(null)
  const add = useAddFiles(draft, onChange)
  return (
    <>
      <Button icon={FileInput} onClick={() => input.current?.click()}>
        {t('files.open')}
      </Button>
      {/* Names such as `.env` have no extension, so every file may be chosen. */}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('files.open')}
        onChange={({ target }) => {
          const { files } = target
          if (files) void add([...files])
          // The same file can be chosen again.
          target.value = ''
        }}
      />
    </>
  )
}
