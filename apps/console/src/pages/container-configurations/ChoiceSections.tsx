import { exposeStrategies, logDrivers, networkModes, restartPolicies } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../api/me.ts'
import { Chips } from '../../components/Chips.tsx'
import { Select } from '../../components/Field.tsx'
import { Switch } from '../../components/Switch.tsx'
import { settingOf, useConfigForm } from './config-context.ts'
import { ListRows } from './ListRows.tsx'
import { Marked } from './Marked.tsx'
import { SettingOrigin, SettingReset } from './Origin.tsx'
import { PairRows } from './PairRows.tsx'
import { Section, Setting } from './Section.tsx'
import { SettingInput } from './SettingInput.tsx'

/** How it is reached from outside through Traefik. Several hosts are separated by commas. */
export function RoutingSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: expose } = settingOf(form, 'expose')
  const { value: routing } = settingOf(form, 'routing')
  const ports = [...(form.own.ports ?? []), ...(form.parent?.ports ?? [])]
    .map((port) => port.internal)
    .filter((port) => !Number.isNaN(port))
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
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        <Setting
          label={t('field.expose')}
          origin={<SettingOrigin field="expose" label={t('field.expose')} />}
          error={form.errorOf('expose')}
          help={t('routing.exposeHelp')}
        >
          <Marked inputId="expose">
            <Chips
              label={t('field.expose')}
              value={expose ?? 'none'}
              disabled={form.readOnly !== null}
              onChange={(value) => form.edit('expose', value)}
              options={exposeStrategies.map((value) => ({ value, label: t(`routing.expose.${value}`) }))}
            />
          </Marked>
        </Setting>
        <Setting
          label={t('routing.port')}
          origin={<SettingOrigin field="routing" label={t('section.routing')} />}
          error={form.errorOf('routing.port')}
          help={ports.length === 0 ? t('routing.noPorts') : undefined}
        >
          <Marked inputId="routing.port" className="w-full">
            <Select
              aria-label={t('routing.port')}
              value={routing?.port ?? ''}
              disabled={form.readOnly !== null || ports.length === 0}
              onChange={(event) => change({ port: event.target.value === '' ? null : Number(event.target.value) })}
            >
              <option value="">{t('routing.firstPort')}</option>
              {[...new Set([...ports, ...(routing?.port ? [routing.port] : [])])].map((port) => (
                <option key={port} value={port}>
                  {port}
                </option>
              ))}
            </Select>
          </Marked>
        </Setting>
        {text('domain', 'shop.example.com')}
        {text('path', '/')}
        {text('uploadLimit', '10mb')}
        <Setting
          label={t('routing.stripPath')}
          error={form.errorOf('routing.stripPath')}
          help={t('routing.stripPathHelp')}
        >
          <span className="flex h-[30px] items-center">
            <Marked inputId="routing.stripPath">
              <Switch
                label={t('routing.stripPath')}
                checked={routing?.stripPath ?? false}
                disabled={form.readOnly !== null}
                onChange={(stripPath) => change({ stripPath })}
              />
            </Marked>
          </span>
        </Setting>
      </div>
    </Section>
  )
}

const expectedStates = ['running', 'waiting', 'exited'] as const

/** When its start counts as done. Later images of the version wait for it only when this is set. */
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
    <Section id="expectedState" tools={<SettingOrigin field="expectedState" label={t('section.expectedState')} />}>
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        <Setting
          label={t('expected.state')}
          error={form.errorOf('expectedState.state') ?? form.errorOf('expectedState')}
          help={t(value ? 'expected.stateHelp' : 'expected.unset')}
        >
          <Marked inputId="expectedState.state">
            <Chips
              label={t('expected.state')}
              value={value?.state ?? 'unset'}
              disabled={form.readOnly !== null}
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
          </Marked>
        </Setting>
        {value && number('timeout', '120')}
        {value?.state === 'exited' && number('exitCode', '0')}
      </div>
    </Section>
  )
}

export function NetworksSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: mode } = settingOf(form, 'networkMode')
  const hostDenied = useDeniedPart('container-configurations.host-dangerous')
  const own = form.own.networks ?? []
  const inherited = (form.parent?.networks ?? []).filter((row) => !own.some((mine) => mine.key === row.key))
  return (
    <Section id="networks">
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
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
          <Marked inputId="networkMode">
            <Chips
              label={t('field.networkMode')}
              value={mode ?? 'bridge'}
              disabled={form.readOnly !== null}
              onChange={(value) => form.edit('networkMode', value)}
              options={['bridge', 'host', 'none']
                .flatMap((value) => networkModes.filter((known) => known === value))
                .map((value) => ({
                  value,
                  label: t(`networks.mode.${value}`),
                  disabled: value === 'host' && mode !== 'host' && hostDenied !== null,
                }))}
            />
          </Marked>
        </Setting>
        <Setting
          label={t('field.networks')}
          origin={<SettingReset field="networks" label={t('field.networks')} />}
          error={
            form.errorOf('networks') ?? own.map((_, index) => form.errorOf(`networks[${index}].key`)).find(Boolean)
          }
          help={t('networks.help')}
        >
          <ListRows
            field="networks"
            label={t('networks.one')}
            addLabel={t('networks.add')}
            inherited={inherited}
            rows={own}
            own
            onChange={(rows) => form.edit('networks', rows)}
            placeholder="backend"
          />
        </Setting>
      </div>
    </Section>
  )
}

export function RestartSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'restartPolicy')
  return (
    <Section id="restart" tools={<SettingOrigin field="restartPolicy" label={t('section.restart')} />}>
      <div className="p-3">
        <Setting
          label={t('field.restartPolicy')}
          error={form.errorOf('restartPolicy')}
          help={t(`restart.help.${value ?? 'unlessStopped'}`)}
        >
          <Marked inputId="restartPolicy">
            <Chips
              label={t('field.restartPolicy')}
              value={value ?? 'unlessStopped'}
              disabled={form.readOnly !== null}
              onChange={(policy) => form.edit('restartPolicy', policy)}
              options={restartPolicies.map((policy) => ({ value: policy, label: t(`restart.policy.${policy}`) }))}
            />
          </Marked>
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
    <Section id="log" tools={<SettingOrigin field="logConfig" label={t('section.log')} />}>
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        <Setting
          label={t('log.driver')}
          error={form.errorOf('logConfig.driver')}
          help={t(driver === 'none' ? 'log.noneHelp' : 'log.driverHelp')}
        >
          <Marked inputId="logConfig.driver" className="w-full">
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
          </Marked>
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
      </div>
    </Section>
  )
}
