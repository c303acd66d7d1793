import { deploymentStrategies } from '@crux/contract'
import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { Select } from '../../components/Field.tsx'
import { Switch } from '../../components/Switch.tsx'
import { settingOf, useConfigForm } from './config-context.ts'
import { KeyValueRows, useKeyValues } from './KeyValueRows.tsx'
import { ListRows } from './ListRows.tsx'
import { Marked } from './Marked.tsx'
import { SettingOrigin, SettingReset } from './Origin.tsx'
import { PartInput, useChangePart } from './PartInput.tsx'
import { Section, Setting, SettingGrid } from './Section.tsx'

export function StrategySection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'deploymentStrategy')
  return (
    <Section id="strategy" tools={<SettingOrigin field="deploymentStrategy" label={t('section.strategy')} />}>
      <div className="p-3">
        <Setting
          label={t('field.deploymentStrategy')}
          error={form.errorOf('deploymentStrategy')}
          help={t(`strategy.help.${value ?? 'recreate'}`)}
        >
          <Marked inputId="deploymentStrategy">
            <Chips
              label={t('field.deploymentStrategy')}
              value={value ?? 'recreate'}
              disabled={form.readOnly !== null}
              onChange={(next) => form.edit('deploymentStrategy', next)}
              options={deploymentStrategies.map((name) => ({ value: name, label: t(`strategy.${name}`) }))}
            />
          </Marked>
        </Setting>
      </div>
    </Section>
  )
}

export function HeadersSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own.customHeaders ?? []
  const inherited = (form.parent?.customHeaders ?? []).filter((row) => !own.some((mine) => mine.key === row.key))
  return (
    <Section id="headers">
      <SettingGrid>
        <SwitchSetting field="proxyHeaders" />
        <Setting
          label={t('field.customHeaders')}
          origin={<SettingReset field="customHeaders" label={t('field.customHeaders')} />}
          error={form.errorOf('customHeaders')}
          help={t('headers.customHelp')}
        >
          <ListRows
            field="customHeaders"
            label={t('headers.one')}
            addLabel={t('headers.add')}
            inherited={inherited}
            rows={own}
            own
            onChange={(rows) => form.edit('customHeaders', rows)}
            placeholder="X-Request-Id"
          />
        </Setting>
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
  const ports = [
    ...new Set(
      [...(form.own.ports ?? []), ...(form.parent?.ports ?? [])]
        .map((port) => port.internal)
        .filter((port) => !Number.isNaN(port)),
    ),
  ]
  return (
    <Section id="metrics" tools={<SettingOrigin field="metrics" label={t('section.metrics')} />}>
      <SettingGrid>
        <Setting label={t('metrics.enabled')} error={form.errorOf('metrics.enabled')} help={t('metrics.help')}>
          <span className="flex h-[30px] items-center">
            <Marked inputId="metrics.enabled">
              <Switch
                label={t('metrics.enabled')}
                checked={value?.enabled ?? false}
                disabled={form.readOnly !== null}
                onChange={(enabled) =>
                  form.edit('metrics', {
                    ...value,
                    enabled,
                    port: value?.port ?? (enabled ? (ports[0] ?? null) : null),
                  })
                }
              />
            </Marked>
          </span>
        </Setting>
        {value?.enabled && (
          <>
            <Setting
              label={t('metrics.port')}
              error={form.errorOf('metrics.port')}
              help={ports.length === 0 ? t('routing.noPorts') : undefined}
            >
              <Marked inputId="metrics.port" className="w-full">
                <Select
                  aria-label={t('metrics.port')}
                  value={value.port ?? ''}
                  disabled={form.readOnly !== null}
                  onChange={(event) => change('port', event.target.value === '' ? null : Number(event.target.value))}
                >
                  <option value="">{t('routing.firstPort')}</option>
                  {[...new Set([...ports, ...(value.port ? [value.port] : [])])].map((port) => (
                    <option key={port} value={port}>
                      {port}
                    </option>
                  ))}
                </Select>
              </Marked>
            </Setting>
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
      <span className="flex h-[30px] items-center">
        <Marked inputId={field}>
          <Switch
            label={t(`field.${field}`)}
            checked={value ?? false}
            disabled={form.readOnly !== null}
            onChange={(on) => form.edit(field, on)}
          />
        </Marked>
      </span>
    </Setting>
  )
}
