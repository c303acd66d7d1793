import { type ContainerConfigFields, ulimitNames } from '@crux/contract'
import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { Menu, MenuItem } from '../../../components/Menu.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin, SettingReset } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { Section, Setting } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { KeyedRows, useKeyedRows } from '../rows/KeyedRows.tsx'

type RowOf<F extends keyof ContainerConfigFields> = Extract<ContainerConfigFields[F], readonly unknown[]>[number]

/** Kernel capabilities to add to or drop from the engine's default ones. */
export function CapabilitiesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const list = useKeyedRows<RowOf<'capabilities'>>('capabilities')
  return (
    <Section
      id="capabilities"
      actions={<SettingReset field="capabilities" label={t('section.capabilities')} />}
      onAdd={() => list.add({ key: '', value: 'add' })}
    >
      <KeyedRows field="capabilities" list={list} empty={t('empty.capabilities')} keyPlaceholder="NET_ADMIN">
        {({ layered: { row }, change, inputId }) => (
          <PresenceHighlight inputId={inputId('value')}>
            <Chips
              label={t('capabilities.of', { key: row.key })}
              value={row.value}
              disabled={readOnly !== null}
              onChange={(value) => change({ value })}
              options={(['add', 'drop'] as const).map((value) => ({ value, label: t(`capabilities.${value}`) }))}
            />
          </PresenceHighlight>
        )}
      </KeyedRows>
    </Section>
  )
}

/** Host names for the container's /etc/hosts. */
export function ExtraHostsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyedRows<RowOf<'extraHosts'>>('extraHosts')
  return (
    <Section
      id="extraHosts"
      actions={<SettingReset field="extraHosts" label={t('section.extraHosts')} />}
      onAdd={() => list.add({ key: '', value: '' })}
    >
      <KeyedRows field="extraHosts" list={list} empty={t('empty.extraHosts')} keyPlaceholder="db.internal">
        {({ layered: { row }, change, errorOf, inputId }) => (
          <SettingInput
            className="min-w-36 flex-1"
            inputId={inputId('value')}
            label={t('valueOf', { key: row.key || t('column.key') })}
            placeholder={t('extraHosts.address')}
            value={row.value}
            error={errorOf('value')}
            onChange={(value) => change({ value: value.trim() as typeof row.value })}
          />
        )}
      </KeyedRows>
    </Section>
  )
}

/** Kernel limits of its processes, and the size of its shared memory. */
export function LimitsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const list = useKeyedRows<RowOf<'ulimits'>>('ulimits')
  const { value: shmSize } = settingOf(form, 'shmSize')
  const unused = ulimitNames.filter((name) => !list.rows.some(({ row }) => row.key === name))
  return (
    <Section
      id="limits"
      actions={
        <>
          <SettingReset field="ulimits" label={t('field.ulimits')} />
          <Menu
            trigger={
              <Button size="sm" icon={Plus} disabledReason={form.readOnly}>
                {t('limits.add')}
              </Button>
            }
          >
            {unused.map((name) => (
              <MenuItem
                key={name}
                disabledReason={form.readOnly}
                onSelect={() => list.add({ key: name, soft: Number.NaN, hard: Number.NaN })}
              >
                <span className="mono">{name}</span>
                <span className="ml-2 text-small text-ink-2">{t(`limits.name.${name}`)}</span>
              </MenuItem>
            ))}
          </Menu>
        </>
      }
    >
      <KeyedRows field="ulimits" list={list} empty={t('empty.ulimits')} fixedKey>
        {({ layered: { row }, change, errorOf, inputId }) =>
          (['soft', 'hard'] as const).map((side) => (
            <SettingInput
              key={side}
              className="w-32"
              numeric
              inputId={inputId(side)}
              label={t(`limits.${side}Of`, { key: row.key })}
              placeholder={t(`limits.${side}`)}
              value={Number.isNaN(row[side]) ? '' : String(row[side])}
              error={errorOf(side)}
              onChange={(text) => change({ [side]: text === '' ? Number.NaN : Number(text) })}
            />
          ))
        }
      </KeyedRows>
      <div className="border-t border-line p-3 sm:w-1/2">
        <Setting
          label={t('field.shmSize')}
          origin={<SettingOrigin field="shmSize" label={t('field.shmSize')} />}
          error={form.errorOf('shmSize')}
          help={t('limits.shmHelp')}
        >
          <SettingInput
            inputId="shmSize"
            label={t('field.shmSize')}
            placeholder="64Mi"
            value={shmSize ?? ''}
            error={form.errorOf('shmSize')}
            onChange={(text) => form.edit('shmSize', text === '' ? null : text)}
          />
        </Setting>
      </div>
    </Section>
  )
}
