import { useTranslation } from 'react-i18next'
import { confirm } from '../../components/confirm.tsx'
import { type ComposerDraft, type DraftFile, type FileKind, removeFile } from '../../composer/composer-draft.ts'

/** Removes a file, after a question if there is text to lose. */
export function useRemoveFile(onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void) {
  const { t } = useTranslation('composer')
  return async (kind: FileKind, { id, name, text }: DraftFile): Promise<void> => {
    const question = {
      title: t('files.removeTitle', { name }),
      text: t('files.removeText'),
      action: t('files.remove', { name }),
      danger: true,
    }
    if (text.trim() === '' || (await confirm(question))) onChange((draft) => removeFile(draft, kind, id))
  }
}
