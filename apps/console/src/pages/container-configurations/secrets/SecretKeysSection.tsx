import type { ContainerConfigFields } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { Switch } from '../../../components/Switch.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { Section } from '../form/Section.tsx'
import { KeyedRows, useKeyedRows } from '../rows/KeyedRows.tsx'

type Secret = NonNullable<ContainerConfigFields['secrets']>[number]

/** Which secrets a container wants. Their values are given per deployment, encrypted for its node. */
export function SecretKeysSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const list = useKeyedRows<Secret>('secrets')
  return (
    <Section
      id="secrets"
      trailing={t('secrets.baseAside')}
      actions={<SettingReset field="secrets" label={t('section.secrets')} />}
      onAdd={() => list.add({ key: '', required: true })}
    >
      <KeyedRows field="secrets" list={list} empty={t('empty.secrets')} keyPlaceholder="DATABASE_PASSWORD">
        {({ layered: { row }, change, inputId }) => (
          <span className="flex items-center gap-2">
            <PresenceHighlight inputId={inputId('required')}>
              <Switch
                label={t('secrets.requiredOf', { key: row.key })}
                checked={row.required ?? false}
                disabled={readOnly !== null}
                onChange={(required) => change({ required })}
              />
            </PresenceHighlight>
            <span aria-hidden className="text-ink-2">
              {t('secrets.required')}
            </span>
          </span>
        )}
      </KeyedRows>
    </Section>
  )
}
