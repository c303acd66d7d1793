import { useTranslation } from 'react-i18next'
import { Switch } from '../../../components/Switch.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { Section } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { KeyedRows, useKeyedRows } from '../rows/KeyedRows.tsx'

/** Which secrets a container wants. Their values are given per deployment, encrypted for its node. */
export function SecretKeysSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const list = useKeyedRows('secrets', (fields) => fields?.secrets)
  return (
    <Section
      id="secrets"
      trailing={t('secrets.baseAside')}
      reset="secrets"
      onAdd={() => list.add((id) => ({ id, key: '', required: true }))}
    >
      <KeyedRows list={list} keyPlaceholder="DATABASE_PASSWORD">
        {({ row, change, getError, inputId }) => (
          <span className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
            <PresenceHighlight inputId={inputId('required')}>
              <Switch
                label={t('secrets.requiredFor', { key: row.key })}
                checked={row.required ?? false}
                disabled={readOnly !== null}
                onChange={(required) => change({ required })}
              />
            </PresenceHighlight>
            <span aria-hidden className="text-ink-2">
              {t('secrets.required')}
            </span>
            <span aria-hidden data-tip={t('secrets.groupHelp')} className="ml-2 text-ink-2">
              {t('secrets.groupWord')}
            </span>
            <SettingInput
              className="min-w-28 flex-1"
              lazy
              inputId={inputId('generate')}
              label={t('secrets.groupLabel', { key: row.key })}
              placeholder={t('secrets.groupPlaceholder')}
              value={row.generate ?? ''}
              error={getError('generate')}
              onChange={(group) => change({ generate: group === '' ? undefined : group })}
            />
          </span>
        )}
      </KeyedRows>
    </Section>
  )
}
