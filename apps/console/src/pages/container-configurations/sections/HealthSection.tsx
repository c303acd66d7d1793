import { newId } from '@crux/config-editor'
import { healthCheckForms } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { toLines } from '../rows/ListRows.tsx'
import { TextRows } from '../rows/TextRows.tsx'
import { FieldErrors } from './PlainSections.tsx'
import { SettingChips } from './SettingControls.tsx'
import { SettingField, SettingFields, type SettingSpec, useChangePart } from './SettingField.tsx'

const probe = (part: 'startupProbe' | 'readinessProbe' | 'livenessProbe', placeholder: string) =>
  ({ field: 'healthCheckConfig', part, label: `health.${part}`, help: `health.${part}Help`, placeholder }) as const
const healthNumber = (
  part: 'intervalSeconds' | 'timeoutSeconds' | 'startPeriodSeconds' | 'retries',
  placeholder: string,
) => ({ field: 'healthCheckConfig', part, label: `health.${part}`, control: 'number', placeholder }) as const

const probes: readonly SettingSpec[] = [
  probe('startupProbe', '/started'),
  probe('readinessProbe', '/ready'),
  probe('livenessProbe', '/alive'),
  {
    field: 'healthCheckConfig',
    part: 'port',
    label: 'health.port',
    help: 'health.portHelp',
    control: 'number',
    placeholder: '8080',
  },
]
const times = [
  healthNumber('intervalSeconds', '30'),
  healthNumber('timeoutSeconds', '30'),
  healthNumber('startPeriodSeconds', '0'),
  healthNumber('retries', '3'),
]

/** HTTP probes, and the engine's own test in one of its forms. */
export function HealthSection() {
  const form = getSetting(useConfigForm(), 'healthCheckConfig').value?.test ?? 'shell'
  return (
    <Section id="health" origin="healthCheckConfig">
      <SettingGrid>
        <SettingFields settings={probes} />
      </SettingGrid>
      <div className="grid gap-x-5 gap-y-4 border-t border-line p-3 sm:grid-cols-4">
        <div className="sm:col-span-4">
          <TestForm />
        </div>
        {form !== 'none' && (
          <>
            <div className="sm:col-span-4">
              {form === 'exec' ? (
                <TestArguments />
              ) : (
                <SettingField
                  field="healthCheckConfig"
                  part="command"
                  label="health.command"
                  help="health.commandHelp"
                  placeholder="pg_isready -U postgres"
                />
              )}
            </div>
            <SettingFields settings={times} />
          </>
        )}
      </div>
      <FieldErrors field="healthCheckConfig" />
    </Section>
  )
}

/** Another form drops what belongs to the previous one, because the server refuses a test that never runs. */
function TestForm() {
  const { t } = useTranslation('configuration')
  const config = useConfigForm()
  const { value } = getSetting(config, 'healthCheckConfig')
  const { command, arguments: words, ...rest } = value ?? {}
  const { intervalSeconds: _, timeoutSeconds: __, startPeriodSeconds: ___, retries: ____, ...probesOnly } = rest
  const form = value?.test ?? 'shell'
  return (
    <Setting
      label={t('health.test')}
      error={config.getError('healthCheckConfig.test')}
      help={t(`health.formHelp.${form}`)}
    >
      <SettingChips
        inputId="healthCheckConfig.test"
        label={t('health.test')}
        value={form}
        options={healthCheckForms.map((name) => ({ value: name, label: t(`health.form.${name}`) }))}
        onChange={(test) =>
          config.edit('healthCheckConfig', {
            ...(test === 'none' ? probesOnly : rest),
            test,
            ...(test === 'shell' && { command }),
            ...(test === 'exec' && { arguments: words }),
          })
        }
      />
    </Setting>
  )
}

function TestArguments() {
  const { t } = useTranslation('configuration')
  const config = useConfigForm()
  const { value } = getSetting(config, 'healthCheckConfig')
  const change = useChangePart('healthCheckConfig', 'arguments')
  return (
    <Setting
      label={t('health.arguments')}
      error={config.getError('healthCheckConfig.arguments')}
      help={t('health.argumentsHelp')}
    >
      <TextRows
        property="healthCheckConfig.arguments"
        label={t('health.arguments')}
        rows={value?.arguments ?? []}
        columns={[
          {
            name: 'key',
            label: (_, number) => t('numbered', { label: t('health.arguments'), number }),
            placeholder: value?.arguments?.length ? undefined : 'pg_isready',
          },
        ]}
        blank={(id) => ({ id, key: '' })}
        onChange={change}
        parse={(text) => toLines(text).map((line) => ({ id: newId(), key: line.trim() }))}
      />
    </Setting>
  )
}
