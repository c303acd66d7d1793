import { useTranslation } from 'react-i18next'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { Section, SettingGrid } from '../form/Section.tsx'
import { SettingField, SettingFields, type SettingSpec } from './SettingField.tsx'

const settings: readonly SettingSpec[] = [
  { field: 'workingDirectory', label: 'field.workingDirectory', placeholderKey: 'asImage' },
  { field: 'commands', label: 'field.commands', help: 'general.commandsHelp', control: 'list' },
  { field: 'args', label: 'field.args', help: 'general.argsHelp', control: 'list' },
  {
    field: 'user',
    label: 'field.user',
    help: 'general.userHelp',
    control: 'number',
    placeholderKey: 'asImage',
    emptyValue: -1,
  },
  { field: 'tty', label: 'field.tty', help: 'general.ttyHelp', control: 'switch' },
]

/** Name, what is run, where, and as whom. */
export function GeneralSection({ defaultName, prefix }: { defaultName: string; prefix: string | undefined }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { value: name } = getSetting(useConfigForm(), 'name')
  const full = `${prefix ? `${prefix}-` : ''}${name || defaultName}`
  return (
    <Section id="general">
      <SettingGrid>
        <SettingField
          field="name"
          label="field.name"
          note={t('general.nameHelp', { name: full })}
          placeholder={defaultName}
        />
        <SettingFields settings={settings} />
      </SettingGrid>
    </Section>
  )
}
