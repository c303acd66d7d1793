import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { type ComposerDraft, type DraftFile, findNameProblem, renameFile } from '../../composer/composer-draft.ts'

type Props = {
  draft: ComposerDraft
  file: DraftFile
  onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void
  onClose: () => void
}

/** Compose files name each other in `include` and `extends`, and `.env` files in `env_file`. */
export function RenameFile({ draft, file, onChange, onClose }: Props) {
  const { t } = useTranslation(['composer', 'common'])
  const [name, setName] = useState(file.name)
  const problem = findNameProblem(draft, file.id, name.trim())
  const submit = () => {
    if (problem) return
    onChange((before) => renameFile(before, file.id, name.trim()))
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('files.rename', file)}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form="rename-file" variant="main" disabledReason={problem && t(`name.${problem}`)}>
            {t('files.renameAction')}
          </Button>
        </>
      }
    >
      <form
        id="rename-file"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Field label={t('files.name')} help={t('files.nameHelp')} error={problem && t(`name.${problem}`)}>
          <TextInput mono value={name} autoComplete="off" onChange={({ target }) => setName(target.value)} />
        </Field>
      </form>
    </Dialog>
  )
}
