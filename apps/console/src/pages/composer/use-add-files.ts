import { useTranslation } from 'react-i18next'
import { toastText } from '../../components/toasts.tsx'
import { addChosenFiles, type ComposerDraft, fileBytesMax, filesMax } from '../../composer/composer-draft.ts'

type Change = (update: (draft: ComposerDraft) => ComposerDraft) => void

/** Reads chosen or dropped files into the draft. Too many or too large ones are refused before they are read. */
export function useAddFiles(draft: ComposerDraft, onChange: Change) {
  const { t } = useTranslation('composer')
  return async (list: FileList | readonly File[]): Promise<void> => {
    const chosen = [...list]
    if (chosen.length + draft.files.length + draft.envFiles.length > 2 * filesMax)
      return void toastText(t('files.tooMany', { count: filesMax }))
    const large = chosen.find(({ size }) => size > fileBytesMax)
    if (large) return void toastText(t('files.tooLarge', { name: large.name }))
    const files = await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })))
    onChange((before) => addChosenFiles(before, files))
  }
}
