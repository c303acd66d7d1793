import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { FieldError } from '../../../components/Field.tsx'
import { Switch } from '../../../components/Switch.tsx'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { getText } from './SettingControls.tsx'

/** Published TCP ports that stay open while the container behind them is replaced. */
export function PortGate({ alone }: { alone?: boolean }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = getSetting(form, 'portGate')
  if (form.nodeType === 'k8s' && !value) return null
  const on = value?.enabled === true
  const published = [...(form.own.ports ?? []), ...(form.parent?.ports ?? [])].filter(
    (port) => port.external && port.protocol !== 'udp',
  )
  const plain = published.some((port) => !port.proxyProtocol)
  const error = form.getError('portGate') ?? form.getError('portGate.enabled') ?? form.getError('portGate.drainSeconds')
  return (
    <div className={cx('grid gap-2 px-3 py-2.5', !alone && 'border-t border-line')}>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <PresenceHighlight inputId="portGate.enabled">
          <Switch
            label={t('ports.gate')}
            checked={on}
            disabled={form.readOnly !== null}
            onChange={(enabled) => form.edit('portGate', { ...value, enabled })}
          />
        </PresenceHighlight>
        <span aria-hidden>{t('ports.gate')}</span>
        <span className="ml-auto">
          <SettingOrigin field="portGate" label={t('ports.gate')} />
        </span>
      </div>
      {on && (
        <div className="flex flex-wrap items-center gap-2 text-ink-2">
          {t('ports.drainBefore')}
          <SettingInput
            className="w-20"
            numeric
            inputId="portGate.drainSeconds"
            label={t('ports.drain')}
            placeholder="30"
            value={getText(value?.drainSeconds)}
            error={form.getError('portGate.drainSeconds')}
            onChange={(text) =>
              form.edit('portGate', { ...value, enabled: true, drainSeconds: text === '' ? null : Number(text) })
            }
          />
          {t('ports.drainAfter')}
        </div>
      )}
      {error ? (
        <FieldError>{error}</FieldError>
      ) : (
        <p className="text-small text-ink-2">
          {t(form.nodeType === 'k8s' ? 'notFor.docker' : on ? 'ports.gateOn' : 'ports.gateOff')}
          {on && plain && <span className="block text-progress">{t('ports.gateAddress')}</span>}
        </p>
      )}
    </div>
  )
}
