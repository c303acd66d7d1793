import { parseEnvFile } from '@crux/config-editor'
import { Eye, EyeOff, Info, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../../components/Button.tsx'
import { FieldError } from '../../../components/Field.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { RowErrors, Section } from '../form/Section.tsx'
import { useFocusRow } from '../rows/use-focus-row.ts'
import { AddedSecretRow, SecretRowLine } from './SecretRowLine.tsx'
import { useSecretValues } from './use-secret-values.tsx'

/** The secrets of a deployment or an instance. Values leave this page encrypted for the node, and only when they are saved. */
export function SecretsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const secrets = useSecretValues()
  const { node, rows, typed, dirty, problems, errors } = secrets
  const [shown, setShown] = useState(false)
  const focus = useFocusRow<HTMLUListElement>()
  const noKey = node.publicKey ? null : t('secrets.noKey', { node: node.name })
  const off = form.readOnly ?? secrets.denied ?? noKey
  const paste = (text: string): boolean => {
    const { pairs, problems: broken } = parseEnvFile(text)
    if (pairs.length === 0 || broken.length > 0) return false
    secrets.paste(pairs)
    return true
  }
  const stale = rows.filter((row) => row.state === 'stale')
  const asked = rows.length + typed.added.length > 0
  return (
    <Section
      id="secrets"
      trailing={t('secrets.concreteAside')}
      onAdd={() => focus.focusRow(secrets.add())}
      actions={
        asked && !off ? (
          <IconButton
            icon={shown ? EyeOff : Eye}
            size="sm"
            label={t(shown ? 'secrets.hideTyped' : 'secrets.showTyped')}
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
          />
        ) : undefined
      }
    >
      {noKey && (
        <p role="note" className="flex items-start gap-2 border-b border-line bg-sunken px-3 py-2 text-ink-2">
          <Info aria-hidden className="mt-0.5 text-progress" />
          {noKey}
        </p>
      )}
      {stale.length > 0 && (
        <p role="alert" className="flex items-start gap-2 border-b border-line px-3 py-2 tinted-failed">
          <TriangleAlert aria-hidden className="mt-0.5 text-failed" />
          {t('secrets.staleNote', { node: node.name, count: stale.length })}
        </p>
      )}
      {!asked && <p className="px-3 py-2.5 text-ink-3">{t('empty.secrets')}</p>}
      <ul ref={focus.rows} className="divide-y divide-line empty:hidden">
        {rows.map((row) => (
          <SecretRowLine key={row.key} row={row} shown={shown} off={off} onPaste={paste} />
        ))}
        {typed.added.map((row) => (
          <AddedSecretRow key={row.id} row={row} shown={shown} off={off} onPaste={paste} />
        ))}
      </ul>
      <RowErrors errors={form.errorsBelow('secrets')} />
      {errors.has('') && (
        <div className="px-3 pb-3">
          <FieldError>{errors.get('')}</FieldError>
        </div>
      )}
      {dirty && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line bg-sunken px-3 py-2">
          <span role="status" className="mr-auto text-ink-2">
            {t('secrets.unsaved')}
          </span>
          <Button size="sm" disabledReason={secrets.saving && t('secrets.saving')} onClick={secrets.discard}>
            {t('secrets.discard')}
          </Button>
          <Button
            size="sm"
            variant="main"
            busy={secrets.saving}
            disabledReason={off ?? (problems.size > 0 && t('secrets.fixKeys'))}
            onClick={() => void secrets.save()}
          >
            {t('secrets.save')}
          </Button>
        </div>
      )}
    </Section>
  )
}
