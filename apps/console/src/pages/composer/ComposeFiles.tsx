import type { ComposeProblem } from '@crux/compose'
import { CircleX, FilePlus2, PanelRightClose, PanelRightOpen, Pencil, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { countErrors } from '../../composer/compose-result.ts'
import { addFile, type ComposerDraft, canRemove, filesMax, setText } from '../../composer/composer-draft.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { FileEditor } from './FileEditor.tsx'
import type { JumpTarget } from './use-jump.ts'
import { useRemoveFile } from './use-remove-file.ts'

const RenameFile = lazyComponent(async () => (await import('./RenameFile.tsx')).RenameFile)

type Props = {
  draft: ComposerDraft
  onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void
  problems: readonly ComposeProblem[]
  target: JumpTarget | null
  showsEnv: boolean
  /** Absent where the default `.env` file has no place beside this card. */
  onShowEnv?: (shown: boolean) => void
}

/** The compose files, one editor each; the first one is the base and the others override it. */
export function ComposeFiles({ draft, onChange, problems, target, showsEnv, onShowEnv }: Props) {
  const { t } = useTranslation('composer')
  const [selectedId, setSelectedId] = useState(draft.files[0]?.id)
  const [renaming, setRenaming] = useState(false)
  const selected = draft.files.find(({ id }) => id === selectedId) ?? draft.files[0]
  const remove = useRemoveFile(onChange)
  useEffect(() => {
    if (target && draft.files.some(({ id }) => id === target.fileId)) setSelectedId(target.fileId)
  }, [target])
  if (!selected) return null
  const add = () => {
    const added = addFile(draft, 'files')
    onChange(() => added.draft)
    setSelectedId(added.id)
  }
  return (
    <Box
      label={t('files.label')}
      title={
        draft.files.length > 1 ? (
          <Chips
            label={t('files.choose')}
            value={selected.id}
            onChange={setSelectedId}
            options={draft.files.map((file) => ({
              value: file.id,
              label: <FileName name={file.name} problems={problems} />,
            }))}
          />
        ) : (
          <span className="mono">{selected.name}</span>
        )
      }
      actions={
        <>
          <IconButton icon={Pencil} label={t('files.rename', selected)} onClick={() => setRenaming(true)} />
          {draft.files.length > 1 && (
            <IconButton
              icon={Trash2}
              label={t('files.remove', selected)}
              onClick={() => canRemove(draft, 'files', selected.id) && void remove('files', selected)}
            />
          )}
          <IconButton
            icon={FilePlus2}
            label={t('files.add')}
            disabledReason={draft.files.length >= filesMax && t('files.tooMany', { count: filesMax })}
            onClick={add}
          />
          {onShowEnv && (
            <IconButton
              icon={showsEnv ? PanelRightClose : PanelRightOpen}
              label={t(showsEnv ? 'env.hide' : 'env.show')}
              aria-pressed={showsEnv}
              onClick={() => onShowEnv(!showsEnv)}
            />
          )}
        </>
      }
    >
      {draft.files.map((file) => (
        <FileEditor
          key={file.id}
          file={file}
          language="yaml"
          problems={problems}
          target={target}
          hidden={file.id !== selected.id}
          onChange={(text) => onChange((before) => setText(before, file.id, text))}
        />
      ))}
      {(draft.profiles !== '' || draft.files.some(({ text }) => /\bprofiles\s*:/.test(text))) && (
        <Profiles value={draft.profiles} onChange={(profiles) => onChange((before) => ({ ...before, profiles }))} />
      )}
      {renaming && <RenameFile draft={draft} file={selected} onChange={onChange} onClose={() => setRenaming(false)} />}
    </Box>
  )
}

function FileName({ name, problems }: { name: string; problems: readonly ComposeProblem[] }) {
  const { t } = useTranslation('composer')
  const count = countErrors(problems.filter(({ file }) => file === name))
  return (
    <span className="mono inline-flex items-center gap-1">
      {name}
      {count > 0 && <CircleX role="img" aria-label={t('files.errors', { count })} className="size-3.5! text-failed" />}
    </span>
  )
}

function Profiles({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation('composer')
  return (
    <div className="border-t border-line px-3 py-2">
      <Field label={t('profiles.label')} help={t('profiles.help')}>
        <TextInput
          mono
          value={value}
          placeholder={t('profiles.placeholder')}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
    </div>
  )
}
