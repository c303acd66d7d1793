import { deploymentStrategies } from '@crux/contract'
import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin, SettingReset } from '../form/Origin.tsx'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { KeyValueRows, useKeyValues } from '../rows/KeyValueRows.tsx'
import { PartInput, useChangePart } from './PartInput.tsx'
import { ListSetting, PortSetting, SettingChips, SettingSwitch, usePorts } from './SettingControls.tsx'

export function StrategySection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'deploymentStrategy')
  return (
    <Section id="strategy" actions={<SettingOrigin field="deploymentStrategy" label={t('section.strategy')} />}>
      <div className="p-3">
        <Setting
          label={t('field.deploymentStrategy')}
          error={form.errorOf('deploymentStrategy')}
          help={t(`strategy.help.${value ?? 'recreate'}`)}
        >
          <SettingChips
            inputId="deploymentStrategy"
            label={t('field.deploymentStrategy')}
            value={value ?? 'recreate'}
            onChange={(next) => form.edit('deploymentStrategy', next)}
            options={deploymentStrategies.map((name) => ({ value: name, label: t(`strategy.${name}`) }))}
          />
        </Setting>
      </div>
    </Section>
  )
}

export function HeadersSection() {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <Section id="headers">
      <SettingGrid>
        <SwitchSetting field="proxyHeaders" />
        <ListSetting
          field="customHeaders"
          one={t('headers.one')}
          add={t('headers.add')}
          help={t('headers.customHelp')}
          placeholder="X-Request-Id"
        />
      </SettingGrid>
    </Section>
  )
}

export function LoadBalancerSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const on = settingOf(form, 'useLoadBalancer').value === true
  const list = useKeyValues('extraLBAnnotations')
  return (
    <Section id="loadBalancer">
      <SettingGrid>
        <SwitchSetting field="useLoadBalancer" />
      </SettingGrid>
      {(on || list.rows.length > 0) && (
        <div className="border-t border-line">
          <div className="flex items-center gap-2 px-3 pt-2.5">
            <h3 className="font-strong">{t('field.extraLBAnnotations')}</h3>
            <span className="ml-auto flex gap-1">
              <SettingReset field="extraLBAnnotations" label={t('field.extraLBAnnotations')} />
              <Button size="sm" icon={Plus} disabledReason={form.readOnly} onClick={list.add}>
                {t('add')}
              </Button>
            </span>
          </div>
          <KeyValueRows list={list} label={t('field.extraLBAnnotations')} />
        </div>
      )}
    </Section>
  )
}

export function MetricsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'metrics')
  const change = useChangePart('metrics')
  const ports = usePorts()
  return (
    <Section id="metrics" actions={<SettingOrigin field="metrics" label={t('section.metrics')} />}>
      <SettingGrid>
        <Setting label={t('metrics.enabled')} error={form.errorOf('metrics.enabled')} help={t('metrics.help')}>
          <SettingSwitch
            inputId="metrics.enabled"
            label={t('metrics.enabled')}
            value={value?.enabled ?? false}
            onChange={(enabled) =>
              form.edit('metrics', { ...value, enabled, port: value?.port ?? (enabled ? (ports[0] ?? null) : null) })
            }
          />
        </Setting>
        {value?.enabled && (
          <>
            <PortSetting
              inputId="metrics.port"
              label={t('metrics.port')}
              value={value.port ?? null}
              onChange={(port) => change('port', port)}
            />
            <PartInput field="metrics" part="path" label={t('metrics.path')} placeholder="/metrics" />
          </>
        )}
      </SettingGrid>
    </Section>
  )
}

function SwitchSetting({ field }: { field: 'proxyHeaders' | 'useLoadBalancer' }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, field)
  return (
    <Setting
      label={t(`field.${field}`)}
      origin={<SettingOrigin field={field} label={t(`field.${field}`)} />}
      error={form.errorOf(field)}
      help={t(`headers.${field}Help`)}
    >
      <SettingSwitch
        inputId={field}
        label={t(`field.${field}`)}
        value={value ?? false}
        onChange={(on) => form.edit(field, on)}
      />
    </Setting>
  )
}
