import { useTranslation } from 'react-i18next'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { Section, Setting } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'

/** The stop signal of the container, and the time before it is killed. */
export function StopSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: seconds } = settingOf(form, 'stopGracePeriodSeconds')
  const { value: signal } = settingOf(form, 'stopSignal')
  return (
    <Section id="stop">
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        <Setting
          label={t('field.stopGracePeriodSeconds')}
          origin={<SettingOrigin field="stopGracePeriodSeconds" label={t('field.stopGracePeriodSeconds')} />}
          error={form.errorOf('stopGracePeriodSeconds')}
          help={t('stop.gracePeriodHelp')}
        >
          <SettingInput
            inputId="stopGracePeriodSeconds"
            label={t('field.stopGracePeriodSeconds')}
            numeric
            placeholder="10"
            value={seconds === null || seconds === undefined || Number.isNaN(seconds) ? '' : String(seconds)}
            error={form.errorOf('stopGracePeriodSeconds')}
            onChange={(text) => form.edit('stopGracePeriodSeconds', text === '' ? null : Number(text))}
          />
        </Setting>
        <Setting
          label={t('field.stopSignal')}
          origin={<SettingOrigin field="stopSignal" label={t('field.stopSignal')} />}
          error={form.errorOf('stopSignal')}
          help={t('stop.signalHelp')}
        >
          <SettingInput
            inputId="stopSignal"
            label={t('field.stopSignal')}
            placeholder={t('asImage')}
            value={signal ?? ''}
            suggestions={['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGKILL']}
            error={form.errorOf('stopSignal')}
            onChange={(text) => form.edit('stopSignal', text === '' ? null : text.trim().toUpperCase())}
          />
        </Setting>
      </div>
    </Section>
  )
}
