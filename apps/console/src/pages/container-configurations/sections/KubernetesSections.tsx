import { Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { KeyValueRows, useKeyValues } from '../rows/KeyValueRows.tsx'
import { ListSetting, SettingSwitch, usePorts } from './SettingControls.tsx'
import { SettingField } from './SettingField.tsx'

export function HeadersSection() {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <Section id="headers">
      <SettingGrid>
        <SettingField
          field="proxyHeaders"
          label="field.proxyHeaders"
          help="headers.proxyHeadersHelp"
          control="switch"
        />
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
  const on = getSetting(form, 'useLoadBalancer').value === true
  const list = useKeyValues('extraLBAnnotations')
  return (
    <Section id="loadBalancer">
      <SettingGrid>
        <SettingField
          field="useLoadBalancer"
          label="field.useLoadBalancer"
          help="headers.useLoadBalancerHelp"
          control="switch"
        />
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
  const { value } = getSetting(form, 'metrics')
  const [firstPort = null] = usePorts()
  return (
    <Section id="metrics" origin="metrics">
      <SettingGrid>
        <Setting label={t('metrics.enabled')} error={form.getError('metrics.enabled')} help={t('metrics.help')}>
          <SettingSwitch
            inputId="metrics.enabled"
            label={t('metrics.enabled')}
            value={value?.enabled ?? false}
            onChange={(enabled) =>
              form.edit('metrics', { ...value, enabled, port: value?.port ?? (enabled ? firstPort : null) })
            }
          />
        </Setting>
        {value?.enabled && (
          <>
            <SettingField field="metrics" part="port" label="metrics.port" control="port" />
            <SettingField field="metrics" part="path" label="metrics.path" placeholder="/metrics" />
          </>
        )}
      </SettingGrid>
    </Section>
  )
}
