import { exposeStrategies, logDrivers, networkModes, restartPolicies } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../../api/me.ts'
import { Select } from '../../../components/Field.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { PairRows } from '../rows/PairRows.tsx'
import { ListSetting, PortSetting, SettingChips, SettingSwitch } from './SettingControls.tsx'

/** The routing from outside through Traefik. Several hosts are separated by commas. */
export function RoutingSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: expose } = settingOf(form, 'expose')
  const { value: routing } = settingOf(form, 'routing')
  const change = (part: NonNullable<typeof routing>) => form.edit('routing', { ...routing, ...part })
  const text = (name: 'domain' | 'path' | 'uploadLimit', placeholder: string) => (
    <Setting label={t(`routing.${name}`)} error={form.errorOf(`routing.${name}`)} help={t(`routing.${name}Help`)}>
      <SettingInput
        inputId={`routing.${name}`}
        label={t(`routing.${name}`)}
        placeholder={placeholder}
        value={routing?.[name] ?? ''}
        error={form.errorOf(`routing.${name}`)}
        onChange={(value) => change({ [name]: value === '' ? null : value })}
      />
    </Setting>
  )
  return (
    <Section id="routing">
      <SettingGrid>
        <Setting
          label={t('field.expose')}
          origin={<SettingOrigin field="expose" label={t('field.expose')} />}
          error={form.errorOf('expose')}
          help={t('routing.exposeHelp')}
        >
          <SettingChips
            inputId="expose"
            label={t('field.expose')}
            value={expose ?? 'none'}
            onChange={(value) => form.edit('expose', value)}
            options={exposeStrategies.map((value) => ({ value, label: t(`routing.expose.${value}`) }))}
          />
        </Setting>
        <PortSetting
          inputId="routing.port"
          label={t('routing.port')}
          value={routing?.port ?? null}
          origin={<SettingOrigin field="routing" label={t('section.routing')} />}
          onChange={(port) => change({ port })}
        />
        {text('domain', 'shop.example.com')}
        {text('path', '/')}
        {text('uploadLimit', '10mb')}
        <Setting
          label={t('routing.stripPath')}
          error={form.errorOf('routing.stripPath')}
          help={t('routing.stripPathHelp')}
        >
          <SettingSwitch
            inputId="routing.stripPath"
            label={t('routing.stripPath')}
            value={routing?.stripPath ?? false}
            onChange={(stripPath) => change({ stripPath })}
          />
        </Setting>
      </SettingGrid>
    </Section>
  )
}

const expectedStates = ['running', 'waiting', 'exited'] as const

/** The state in which the container counts as started. Later images wait for it only if this is set. */
export function ExpectedStateSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'expectedState')
  const change = (part: Partial<NonNullable<typeof value>>) =>
    form.edit('expectedState', { state: 'running', ...value, ...part })
  const number = (name: 'timeout' | 'exitCode', placeholder: string) => (
    <Setting
      label={t(`expected.${name}`)}
      error={form.errorOf(`expectedState.${name}`)}
      help={t(`expected.${name}Help`)}
    >
      <SettingInput
        numeric
        inputId={`expectedState.${name}`}
        label={t(`expected.${name}`)}
        placeholder={placeholder}
        value={value?.[name] === null || value?.[name] === undefined ? '' : String(value[name])}
        error={form.errorOf(`expectedState.${name}`)}
        onChange={(text) => change({ [name]: text === '' ? null : Number(text) })}
      />
    </Setting>
  )
  return (
    <Section id="expectedState" actions={<SettingOrigin field="expectedState" label={t('section.expectedState')} />}>
      <SettingGrid>
        <Setting
          label={t('expected.state')}
          error={form.errorOf('expectedState.state') ?? form.errorOf('expectedState')}
          help={t(value ? 'expected.stateHelp' : 'expected.unset')}
        >
          <SettingChips
            inputId="expectedState.state"
            label={t('expected.state')}
            value={value?.state ?? 'unset'}
            onChange={(state) =>
              state === 'unset'
                ? form.reset('expectedState')
                : change({ state, exitCode: state === 'exited' ? value?.exitCode : null })
            }
            options={[
              { value: 'unset' as const, label: t('expected.none') },
              ...expectedStates.map((state) => ({ value: state, label: t(`common:state.container.${state}`) })),
            ]}
          />
        </Setting>
        {value && number('timeout', '120')}
        {value?.state === 'exited' && number('exitCode', '0')}
      </SettingGrid>
    </Section>
  )
}

export function NetworksSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: mode } = settingOf(form, 'networkMode')
  const hostDenied = useDeniedPart('container-configurations.host-dangerous')
  return (
    <Section id="networks">
      <SettingGrid>
        <Setting
          label={t('field.networkMode')}
          origin={<SettingOrigin field="networkMode" label={t('field.networkMode')} />}
          error={form.errorOf('networkMode')}
          help={
            mode === 'host'
              ? t('networks.hostHelp')
              : hostDenied
                ? `${t('networks.modeHelp')} ${t('networks.mode.host')}: ${hostDenied}.`
                : t('networks.modeHelp')
          }
        >
          <SettingChips
            inputId="networkMode"
            label={t('field.networkMode')}
            value={mode ?? 'bridge'}
            onChange={(value) => form.edit('networkMode', value)}
            options={['bridge', 'host', 'none']
              .flatMap((value) => networkModes.filter((known) => known === value))
              .map((value) => ({
                value,
                label: t(`networks.mode.${value}`),
                disabled: value === 'host' && mode !== 'host' && hostDenied !== null,
              }))}
          />
        </Setting>
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

export function RestartSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'restartPolicy')
  return (
    <Section id="restart" actions={<SettingOrigin field="restartPolicy" label={t('section.restart')} />}>
      <div className="p-3">
        <Setting
          label={t('field.restartPolicy')}
          error={form.errorOf('restartPolicy')}
          help={t(`restart.help.${value ?? 'unlessStopped'}`)}
        >
          <SettingChips
            inputId="restartPolicy"
            label={t('field.restartPolicy')}
            value={value ?? 'unlessStopped'}
            onChange={(policy) => form.edit('restartPolicy', policy)}
            options={restartPolicies.map((policy) => ({ value: policy, label: t(`restart.policy.${policy}`) }))}
          />
        </Setting>
      </div>
    </Section>
  )
}

export function LogSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'logConfig')
  const driver = value?.driver ?? 'nodeDefault'
  return (
    <Section id="log" actions={<SettingOrigin field="logConfig" label={t('section.log')} />}>
      <SettingGrid>
        <Setting
          label={t('log.driver')}
          error={form.errorOf('logConfig.driver')}
          help={t(driver === 'none' ? 'log.noneHelp' : 'log.driverHelp')}
        >
          <PresenceHighlight inputId="logConfig.driver" className="w-full">
            <Select
              aria-label={t('log.driver')}
              value={driver}
              disabled={form.readOnly !== null}
              onChange={(event) =>
                form.edit('logConfig', {
                  ...value,
                  driver: logDrivers.find((known) => known === event.target.value) ?? 'nodeDefault',
                })
              }
            >
              {logDrivers.map((known) => (
                <option key={known} value={known}>
                  {known === 'nodeDefault' ? t('log.nodeDefault') : known}
                </option>
              ))}
            </Select>
          </PresenceHighlight>
        </Setting>
        <Setting label={t('log.options')} error={form.errorOf('logConfig.options')}>
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
