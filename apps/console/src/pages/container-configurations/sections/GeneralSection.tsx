import { useTranslation } from 'react-i18next'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { Section, Setting } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { ListRows } from '../rows/ListRows.tsx'
import { SettingSwitch } from './SettingControls.tsx'

/** Name, what is run, where, and as whom. */
export function GeneralSection({ defaultName, prefix }: { defaultName: string; prefix: string | undefined }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: name } = settingOf(form, 'name')
  const { value: directory } = settingOf(form, 'workingDirectory')
  const { value: user } = settingOf(form, 'user')
  const { value: tty } = settingOf(form, 'tty')
  const full = `${prefix ? `${prefix}-` : ''}${name || defaultName}`
  const uid = user === null || user === undefined || user === -1 || Number.isNaN(user) ? '' : String(user)
  return (
    <Section id="general">
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        <Setting
          label={t('field.name')}
          origin={<SettingOrigin field="name" label={t('field.name')} />}
          error={form.errorOf('name')}
          help={t('general.nameHelp', { name: full })}
        >
          <SettingInput
            inputId="name"
            label={t('field.name')}
            value={name ?? ''}
            placeholder={defaultName}
            error={form.errorOf('name')}
            onChange={(text) => form.edit('name', text === '' ? null : text)}
          />
        </Setting>
        <Setting
          label={t('field.workingDirectory')}
          origin={<SettingOrigin field="workingDirectory" label={t('field.workingDirectory')} />}
          error={form.errorOf('workingDirectory')}
        >
          <SettingInput
            inputId="workingDirectory"
            label={t('field.workingDirectory')}
            value={directory ?? ''}
            placeholder={t('asImage')}
            error={form.errorOf('workingDirectory')}
            onChange={(text) => form.edit('workingDirectory', text === '' ? null : text)}
          />
        </Setting>
        <Setting
          label={t('field.commands')}
          origin={<SettingOrigin field="commands" label={t('field.commands')} />}
          error={form.errorOf('commands')}
          help={t('general.commandsHelp')}
        >
          <OrderedList field="commands" />
        </Setting>
        <Setting
          label={t('field.args')}
          origin={<SettingOrigin field="args" label={t('field.args')} />}
          error={form.errorOf('args')}
          help={t('general.argsHelp')}
        >
          <OrderedList field="args" />
        </Setting>
        <Setting
          label={t('field.user')}
          origin={<SettingOrigin field="user" label={t('field.user')} />}
          error={form.errorOf('user')}
          help={t('general.userHelp')}
        >
          <SettingInput
            inputId="user"
            label={t('field.user')}
            numeric
            value={uid}
            placeholder={t('asImage')}
            error={form.errorOf('user')}
            onChange={(text) => form.edit('user', text === '' ? -1 : Number(text))}
          />
        </Setting>
        <Setting
          label={t('field.tty')}
          origin={<SettingOrigin field="tty" label={t('field.tty')} />}
          error={form.errorOf('tty')}
          help={t('general.ttyHelp')}
        >
          <SettingSwitch
            inputId="tty"
            label={t('field.tty')}
            value={tty ?? false}
            onChange={(on) => form.edit('tty', on)}
          />
        </Setting>
      </div>
    </Section>
  )
}

/** The highest layer with a list replaces the lists of lower layers completely, so editing the image's list creates one in this layer. */
function OrderedList({ field }: { field: 'commands' | 'args' }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value, own } = settingOf(form, field)
  const rows = value ?? []
  return (
    <ListRows
      field={field}
      label={t(`field.${field}`)}
      addLabel={t('addWord')}
      rows={rows}
      own={own}
      ordered
      onChange={(next) => form.edit(field, next)}
    />
  )
}
