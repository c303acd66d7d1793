import { type EnvChange, envChanges, newId, parseEnvFile, withEnvChanges } from '@crux/config-editor'
import { FileInput } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { Checkbox } from '../../../components/Checkbox.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { Field, FieldError, TextArea } from '../../../components/Field.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { useKeyValues } from '../rows/KeyValueRows.tsx'

const shownProblems = 5

/** An `.env` file as text with a preview of its changes; they take effect when they are applied. */
export function EnvImport({ text: given, onClose }: { text: string; onClose: () => void }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { own, rows } = useKeyValues('environment')
  const [text, setText] = useState(given)
  const [replace, setReplace] = useState(false)
  const file = useMemo(() => parseEnvFile(text), [text])
  const shown = new Map(rows.map(({ row, origin }) => [row.key, origin === 'removed' ? null : row.value]))
  const changes = envChanges(own, shown, file.pairs, replace)
  const real = changes.filter((change) => change.kind !== 'same')
  const apply = () => {
    form.edit('environment', withEnvChanges(own, changes, newId))
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('env.title')}
      description={t('env.text')}
      width="wide:w-[680px]"
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button variant="main" disabledReason={real.length === 0 && t('env.noChange')} onClick={apply}>
            {t('env.apply', { count: real.length })}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <Field
          label={t('env.lines')}
          trailing={
            <label className="inline-flex cursor-pointer items-center gap-1.5 text-accent hover:underline has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus">
              <FileInput aria-hidden />
              {t('env.choose')}
              <input
                type="file"
                className="sr-only"
                onChange={(event) => void event.target.files?.[0]?.text().then(setText)}
              />
            </label>
          }
        >
          <TextArea
            mono
            rows={8}
            value={text}
            placeholder={'# .env\nLOG_LEVEL=info'}
            onChange={(event) => setText(event.target.value)}
            onDrop={(event) => {
              const [dropped] = event.dataTransfer.files
              if (!dropped) return
              event.preventDefault()
              void dropped.text().then(setText)
            }}
          />
        </Field>
        {file.problems.slice(0, shownProblems).map((problem) => (
          <FieldError key={problem.line}>{t('env.problem', problem)}</FieldError>
        ))}
        {file.problems.length > shownProblems && (
          <FieldError>{t('env.moreProblems', { count: file.problems.length - shownProblems })}</FieldError>
        )}
        <span className="flex items-center gap-2">
          <Checkbox id="env-replace" checked={replace} onChange={setReplace} />
          <label htmlFor="env-replace">{t('env.replace')}</label>
        </span>
        {file.pairs.length > 0 && (
          <section aria-label={t('env.preview')} className="overflow-hidden rounded-md border border-line">
            <p className="border-b border-line bg-sunken px-3 py-1.5 text-small text-ink-2">{summary(t, changes)}</p>
            <ul className="max-h-64 overflow-y-auto py-1">
              {real.map((change) => (
                <ChangeLine key={change.key} change={change} />
              ))}
            </ul>
          </section>
        )}
      </div>
    </Dialog>
  )
}

function ChangeLine({ change: { key, kind, from, to } }: { change: EnvChange }) {
  const { t } = useTranslation(['configuration', 'common'])
  const sign = { added: '+', changed: '~', removed: '-', same: '=' }[kind]
  const tone = { added: 'text-running', changed: 'text-progress', removed: 'text-failed', same: 'text-ink-3' }[kind]
  return (
    <li className="mono flex gap-2 px-3 break-all">
      <span aria-hidden className={tone}>
        {sign}
      </span>
      <span className="sr-only">{t(`env.kind.${kind}`)}</span>
      <span>
        {key}={kind === 'removed' ? from : to}
        {kind === 'changed' && <s className="ml-2 text-ink-3">{from}</s>}
      </span>
    </li>
  )
}

function summary(
  t: ReturnType<typeof useTranslation<['configuration', 'common']>>['t'],
  changes: readonly EnvChange[],
) {
  return (['added', 'changed', 'removed', 'same'] as const)
    .flatMap((kind) => {
      const count = changes.filter((change) => change.kind === kind).length
      return count > 0 ? [t(`env.count.${kind}`, { count })] : []
    })
    .join(', ')
}
