import { logDrivers, networkModes, ulimitNames } from '@crux/contract'
import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../../api/me.ts'
import { Button } from '../../../components/Button.tsx'
import { Menu, MenuItem } from '../../../components/Menu.tsx'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { KeyedRows, useKeyedRows } from '../rows/KeyedRows.tsx'
import { KeyValueRows, useKeyValues } from '../rows/KeyValueRows.tsx'
import { PairRows } from '../rows/TextRows.tsx'
import { getText, ListSetting, SettingChips, SettingSelect } from './SettingControls.tsx'
import { SettingField } from './SettingField.tsx'

const expectedStates = ['running', 'waiting', 'exited'] as const

/** The state in which the container counts as started. Later images wait for it only if this is set. */
export function ExpectedStateSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = getSetting(form, 'expectedState')
  return (
    <Section id="expectedState" origin="expectedState">
      <SettingGrid>
        <Setting
          label={t('expected.state')}
          error={form.getError('expectedState.state') ?? form.getError('expectedState')}
          help={t(value ? 'expected.stateHelp' : 'expected.unset')}
        >
          <SettingChips
            inputId="expectedState.state"
            label={t('expected.state')}
            value={value?.state ?? 'unset'}
            onChange={(state) =>
              state === 'unset'
                ? form.reset('expectedState')
                : form.edit('expectedState', {
                    ...value,
                    state,
                    exitCode: state === 'exited' ? value?.exitCode : null,
                  })
            }
            options={[
              { value: 'unset' as const, label: t('expected.none') },
              ...expectedStates.map((state) => ({ value: state, label: t(`common:state.container.${state}`) })),
            ]}
          />
        </Setting>
        {value && (
          <SettingField
            field="expectedState"
            part="timeout"
            label="expected.timeout"
            help="expected.timeoutHelp"
            control="number"
            placeholder="120"
          />
        )}
        {value?.state === 'exited' && (
          <SettingField
            field="expectedState"
            part="exitCode"
            label="expected.exitCode"
            help="expected.exitCodeHelp"
            control="number"
            placeholder="0"
          />
        )}
      </SettingGrid>
    </Section>
  )
}

export function NetworksSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { value: mode } = getSetting(useConfigForm(), 'networkMode')
  const hostDenied = useDeniedPart('container-configurations.host-dangerous')
  return (
    <Section id="networks">
      <SettingGrid>
        <SettingField
          field="networkMode"
          label="field.networkMode"
          help={mode === 'host' ? 'networks.hostHelp' : 'networks.modeHelp'}
          note={
            mode !== 'host' && hostDenied
              ? `${t('networks.modeHelp')} ${t('networks.mode.host')}: ${hostDenied}.`
              : undefined
          }
          fallback="bridge"
          // The usual mode comes first here.
          options={networkModes.toReversed().map((value) => ({
            value,
            label: `networks.mode.${value}` as const,
            disabled: value === 'host' && mode !== 'host' && hostDenied !== null,
          }))}
        />
        <ListSetting
          field="networks"
          one={t('networks.one')}
          add={t('networks.add')}
          help={t('networks.help')}
          placeholder="backend"
        />
      </SettingGrid>
    </Section>
  )
}

export function LogSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = getSetting(form, 'logConfig')
  const driver = value?.driver ?? 'nodeDefault'
  return (
    <Section id="log" origin="logConfig">
      <SettingGrid>
        <Setting
          label={t('log.driver')}
          error={form.getError('logConfig.driver')}
          help={t(driver === 'none' ? 'log.noneHelp' : 'log.driverHelp')}
        >
          <SettingSelect
            inputId="logConfig.driver"
            label={t('log.driver')}
            value={driver}
            onChange={(next) => form.edit('logConfig', { ...value, driver: next })}
            options={logDrivers.map((known) => ({
              value: known,
              label: known === 'nodeDefault' ? t('log.nodeDefault') : known,
            }))}
          />
        </Setting>
        <Setting label={t('log.options')} error={form.getError('logConfig.options')}>
          <PairRows
            property="logConfig.options"
            label={t('log.options')}
            rows={value?.options ?? []}
            placeholders={{ key: 'max-size', value: '10m' }}
            onChange={(options) => form.edit('logConfig', { driver, options })}
          />
        </Setting>
      </SettingGrid>
    </Section>
  )
}

export function DockerLabelsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyValues('dockerLabels')
  return (
    <Section id="labels" reset="dockerLabels" onAdd={list.add}>
      <KeyValueRows list={list} label={t('section.labels')} />
    </Section>
  )
}

/** Kernel capabilities to add to or drop from the engine's default ones. */
export function CapabilitiesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyedRows('capabilities', (fields) => fields?.capabilities)
  return (
    <Section id="capabilities" reset="capabilities" onAdd={() => list.add((id) => ({ id, key: '', value: 'add' }))}>
      <KeyedRows list={list} keyPlaceholder="NET_ADMIN">
        {({ row, change, inputId }) => (
          <SettingChips
            inputId={inputId('value')}
            label={t('capabilities.of', { key: row.key })}
            value={row.value}
            onChange={(value) => change({ value })}
            options={(['add', 'drop'] as const).map((value) => ({ value, label: t(`capabilities.${value}`) }))}
          />
        )}
      </KeyedRows>
    </Section>
  )
}

/** Host names for the container's /etc/hosts. */
export function ExtraHostsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const list = useKeyedRows('extraHosts', (fields) => fields?.extraHosts)
  return (
    <Section id="extraHosts" reset="extraHosts" onAdd={() => list.add((id) => ({ id, key: '', value: '' }))}>
      <KeyedRows list={list} keyPlaceholder="db.internal">
        {({ row, change, getError, inputId }) => (
          <SettingInput
            className="min-w-36 flex-1"
            inputId={inputId('value')}
            label={t('valueOf', { key: row.key || t('column.key') })}
            placeholder={t('extraHosts.address')}
            value={row.value}
            error={getError('value')}
            onChange={(value) => change({ value: value.trim() })}
          />
        )}
      </KeyedRows>
    </Section>
  )
}

/** Kernel limits of its processes, and the size of its shared memory. */
export function LimitsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const list = useKeyedRows('ulimits', (fields) => fields?.ulimits)
  const unused = ulimitNames.filter((name) => !list.rows.some(({ row }) => row.key === name))
  return (
    <Section
      id="limits"
      actions={
        <>
          <SettingReset field="ulimits" label={t('field.ulimits')} />
          <Menu
            trigger={
              <Button size="sm" icon={Plus} disabledReason={readOnly}>
                {t('limits.add')}
              </Button>
            }
          >
            {unused.map((name) => (
              <MenuItem
                key={name}
                disabledReason={readOnly}
                onSelect={() => list.add((id) => ({ id, key: name, soft: Number.NaN, hard: Number.NaN }))}
              >
                <span className="mono">{name}</span>
                <span className="ml-2 text-small text-ink-2">{t(`limits.name.${name}`)}</span>
              </MenuItem>
            ))}
          </Menu>
        </>
      }
    >
      <KeyedRows list={list} fixedKey>
        {({ row, change, getError, inputId }) =>
          (['soft', 'hard'] as const).map((side) => (
            <SettingInput
              key={side}
              className="w-32"
              numeric
              inputId={inputId(side)}
              label={t(`limits.${side}Of`, { key: row.key })}
              placeholder={t(`limits.${side}`)}
              value={getText(row[side])}
              error={getError(side)}
              onChange={(text) => change({ [side]: text === '' ? Number.NaN : Number(text) })}
            />
          ))
        }
      </KeyedRows>
      <div className="border-t border-line p-3">
        <div className="sm:w-1/2">
          <SettingField field="shmSize" label="field.shmSize" help="limits.shmHelp" placeholder="64Mi" />
        </div>
      </div>
    </Section>
  )
}
