import { type ContainerConfigField, deploymentStrategies, exposeStrategies, restartPolicies } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { RowErrors, Section, SettingGrid } from '../form/Section.tsx'
import { SettingFields, type SettingSpec } from './SettingField.tsx'

type PlainSection = {
  settings: readonly SettingSpec[]
  /** The setting whose parts the section shows. */
  origin?: ContainerConfigField
  trailing?: 'configContainer.note'
}

const resource = (part: 'limits.cpu' | 'limits.memory' | 'requests.cpu' | 'requests.memory', placeholder: string) =>
  ({
    field: 'resourceConfig',
    part,
    label: `resources.${part}`,
    help: `resources.help.${part}`,
    placeholder,
  }) as const
const routing = (part: 'domain' | 'path' | 'uploadLimit', placeholder: string) =>
  ({ field: 'routing', part, label: `routing.${part}`, help: `routing.${part}Help`, placeholder }) as const

/** Sections that only list settings, which do not depend on each other. */
const plainSections = {
  /** The routing from outside through Traefik. Several hosts are separated by commas. */
  routing: {
    settings: [
      {
        field: 'expose',
        label: 'field.expose',
        help: 'routing.exposeHelp',
        fallback: 'none',
        options: exposeStrategies.map((value) => ({ value, label: `routing.expose.${value}` as const })),
      },
      { field: 'routing', part: 'port', label: 'routing.port', control: 'port', origin: 'section.routing' },
      routing('domain', 'shop.example.com'),
      routing('path', '/'),
      routing('uploadLimit', '10mb'),
      {
        field: 'routing',
        part: 'stripPath',
        label: 'routing.stripPath',
        help: 'routing.stripPathHelp',
        control: 'switch',
      },
    ],
  },
  resources: {
    origin: 'resourceConfig',
    settings: [
      resource('limits.cpu', '0.5'),
      resource('limits.memory', '512Mi'),
      resource('requests.cpu', '100m'),
      resource('requests.memory', '128Mi'),
    ],
  },
  /** The stop signal of the container, and the time before it is killed. */
  stop: {
    settings: [
      {
        field: 'stopGracePeriodSeconds',
        label: 'field.stopGracePeriodSeconds',
        help: 'stop.gracePeriodHelp',
        control: 'number',
        placeholder: '10',
      },
      {
        field: 'stopSignal',
        label: 'field.stopSignal',
        help: 'stop.signalHelp',
        placeholderKey: 'asImage',
        suggestions: ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGKILL'],
        normalize: (text) => text.trim().toUpperCase(),
      },
    ],
  },
  /** An image whose files are copied into a volume before the container starts. */
  configContainer: {
    origin: 'configContainer',
    trailing: 'configContainer.note',
    settings: [
      { field: 'configContainer', part: 'image', label: 'configContainer.image', placeholder: 'acme/config:1' },
      {
        field: 'configContainer',
        part: 'path',
        label: 'configContainer.path',
        help: 'configContainer.pathHelp',
        placeholder: '/config',
      },
      {
        field: 'configContainer',
        part: 'volume',
        label: 'configContainer.volume',
        help: 'configContainer.volumeHelp',
        placeholder: 'config',
      },
      {
        field: 'configContainer',
        part: 'keepFiles',
        label: 'configContainer.keepFiles',
        help: 'configContainer.keepFilesHelp',
        control: 'switch',
      },
    ],
  },
  restart: {
    origin: 'restartPolicy',
    settings: [
      {
        field: 'restartPolicy',
        label: 'field.restartPolicy',
        origin: false,
        fallback: 'unlessStopped',
        options: restartPolicies.map((value) => ({
          value,
          label: `restart.policy.${value}` as const,
          help: `restart.help.${value}` as const,
        })),
      },
    ],
  },
  strategy: {
    settings: [
      {
        field: 'deploymentStrategy',
        label: 'field.deploymentStrategy',
        fallback: 'rolling',
        options: deploymentStrategies.map((value) => ({
          value,
          label: `strategy.${value}` as const,
          help: `strategy.help.${value}` as const,
        })),
      },
      {
        field: 'replicas',
        label: 'field.replicas',
        help: 'strategy.replicasHelp',
        control: 'number',
        placeholder: '1',
      },
    ],
  },
} satisfies Record<string, PlainSection>

export function PlainSection({ id }: { id: keyof typeof plainSections }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { settings, origin, trailing }: PlainSection = plainSections[id]
  const fields = <SettingFields settings={settings} />
  return (
    <Section id={id} origin={origin} trailing={trailing && t(trailing)}>
      {settings.length > 1 ? <SettingGrid>{fields}</SettingGrid> : <div className="p-3">{fields}</div>}
      {settings.every(({ part }) => part) && <FieldErrors field={origin} />}
    </Section>
  )
}

/** An error of a setting as a whole; its parts show their own errors. */
export function FieldErrors({ field = '' }: { field: string | undefined }) {
  const { getError } = useConfigForm()
  return <RowErrors errors={[getError(field)]} />
}
