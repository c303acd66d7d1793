import type { ContainerConfigFields } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../../api/client.ts'
import { Chips } from '../../../components/Chips.tsx'
import { Select } from '../../../components/Field.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { RowErrors, Section, Setting, SettingGrid } from '../form/Section.tsx'
import { PartInput, PartSwitch, useChangePart } from './PartInput.tsx'

/** Files that are copied from a storage into a volume before the container starts. */
export function StorageSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = settingOf(form, 'storage')
  const change = useChangePart('storage')
  const storages = useQuery(apiQuery('storages.options', { params: { teamSlug: form.teamSlug } }))
  const volumes = volumeNames(form)
  const chosen = value?.storageId ?? null
  const known = storages.data?.some((storage) => storage.id === chosen)
  return (
    <Section id="storage" actions={<SettingOrigin field="storage" label={t('section.storage')} />}>
      <SettingGrid>
        <Setting
          label={t('storage.storage')}
          error={form.errorOf('storage.storageId') ?? form.errorOf('storage')}
          help={storages.isError ? t('storage.unknown') : t('storage.help')}
        >
          <PresenceHighlight inputId="storage.storageId" className="w-full">
            <Select
              aria-label={t('storage.storage')}
              value={chosen ?? ''}
              disabled={form.readOnly !== null}
              onChange={(event) =>
                event.target.value === '' ? form.edit('storage', null) : change('storageId', event.target.value)
              }
            >
              <option value="">{t('storage.none')}</option>
              {chosen && !known && <option value={chosen}>{chosen}</option>}
              {storages.data?.map((storage) => (
                <option key={storage.id} value={storage.id}>
                  {storage.name}
                </option>
              ))}
            </Select>
          </PresenceHighlight>
        </Setting>
        <BucketInput storageId={chosen} />
        <Setting
          wide
          label={t('storage.volume')}
          error={form.errorOf('storage.path')}
          help={t(volumes.length === 0 ? 'storage.noVolumes' : 'storage.volumeHelp')}
        >
          <PresenceHighlight inputId="storage.path">
            <Chips
              label={t('storage.volume')}
              value={value?.path ?? ''}
              disabled={form.readOnly !== null || !chosen}
              onChange={(path) => change('path', path || null)}
              options={[...new Set([...volumes, ...(value?.path ? [value.path] : [])])].map((name) => ({
                value: name,
                label: <span className="mono">{name}</span>,
              }))}
            />
          </PresenceHighlight>
        </Setting>
      </SettingGrid>
    </Section>
  )
}

/** Any text may be typed; buckets that the keys of the storage can list are suggested. */
function BucketInput({ storageId }: { storageId: string | null }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug, readOnly } = useConfigForm()
  const check = useQuery({
    ...apiQuery('storages.check', { params: { teamSlug, storageId: storageId ?? '' } }),
    enabled: storageId !== null && readOnly === null,
    staleTime: 60_000,
    retry: false,
  })
  const { reachable, reason, buckets } = check.data ?? {}
  const said = () => {
    if (!storageId) return t('storage.chooseFirst')
    if (check.isLoading) return t('storage.bucketsLoading')
    if (check.isError) return t('storage.bucketsUnknown')
    if (reachable === false) return t('storage.bucketsUnreachable', { reason: reason ?? '' })
    if (buckets?.length) return `${t('storage.buckets', { count: buckets.length })} ${t('storage.bucketHelp')}`
    return reason ?? t('storage.bucketHelp')
  }
  return (
    <PartInput
      field="storage"
      part="bucket"
      label={t('storage.bucket')}
      placeholder="assets/v1"
      disabled={!storageId}
      suggestions={buckets ?? undefined}
      help={<span aria-busy={check.isLoading || undefined}>{said()}</span>}
    />
  )
}

/** An image whose files are copied into a volume before the container starts. */
export function ConfigContainerSection() {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <Section
      id="configContainer"
      trailing={t('configContainer.aside')}
      actions={<SettingOrigin field="configContainer" label={t('section.configContainer')} />}
    >
      <SettingGrid>
        <PartInput
          field="configContainer"
          part="image"
          label={t('configContainer.image')}
          placeholder="acme/config:1"
        />
        <PartInput
          field="configContainer"
          part="path"
          label={t('configContainer.path')}
          placeholder="/config"
          help={t('configContainer.pathHelp')}
        />
        <PartInput
          field="configContainer"
          part="volume"
          label={t('configContainer.volume')}
          placeholder="config"
          help={t('configContainer.volumeHelp')}
        />
        <PartSwitch
          field="configContainer"
          part="keepFiles"
          label={t('configContainer.keepFiles')}
          help={t('configContainer.keepFilesHelp')}
        />
      </SettingGrid>
      <FieldErrors property="configContainer" />
    </Section>
  )
}

export function HealthSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const text = (part: string, placeholder: string) => (
    <PartInput
      field="healthCheckConfig"
      part={part}
      label={t(`health.${part as 'command'}`)}
      help={t(`health.${part as 'command'}Help`)}
      placeholder={placeholder}
    />
  )
  const number = (part: string, placeholder: string) => (
    <PartInput
      numeric
      field="healthCheckConfig"
      part={part}
      label={t(`health.${part as 'retries'}`)}
      placeholder={placeholder}
    />
  )
  return (
    <Section id="health" actions={<SettingOrigin field="healthCheckConfig" label={t('section.health')} />}>
      <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">
        {text('startupProbe', '/started')}
        {text('readinessProbe', '/ready')}
        {text('livenessProbe', '/alive')}
        <PartInput
          numeric
          field="healthCheckConfig"
          part="port"
          label={t('health.port')}
          help={t('health.portHelp')}
          placeholder="8080"
        />
      </div>
      <div className="grid gap-x-5 gap-y-4 border-t border-line p-3 sm:grid-cols-4">
        <div className="sm:col-span-4">{text('command', 'pg_isready -U postgres')}</div>
        {number('intervalSeconds', '30')}
        {number('timeoutSeconds', '30')}
        {number('startPeriodSeconds', '0')}
        {number('retries', '3')}
      </div>
      <FieldErrors property="healthCheckConfig" />
    </Section>
  )
}

export function ResourcesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const part = (name: 'limits.cpu' | 'limits.memory' | 'requests.cpu' | 'requests.memory', placeholder: string) => (
    <PartInput
      field="resourceConfig"
      part={name}
      label={t(`resources.${name}`)}
      help={t(`resources.help.${name}`)}
      placeholder={placeholder}
    />
  )
  return (
    <Section id="resources" actions={<SettingOrigin field="resourceConfig" label={t('section.resources')} />}>
      <SettingGrid>
        {part('limits.cpu', '0.5')}
        {part('limits.memory', '512Mi')}
        {part('requests.cpu', '100m')}
        {part('requests.memory', '128Mi')}
      </SettingGrid>
      <FieldErrors property="resourceConfig" />
    </Section>
  )
}

/** An error of the setting as a whole; the parts show their own errors. */
function FieldErrors({ property }: { property: string }) {
  const { errorOf } = useConfigForm()
  return <RowErrors errors={[errorOf(property)]} />
}

/** Names of the volumes that the container mounts after all layers. */
export const volumeNames = ({
  own,
  parent,
}: {
  own: ContainerConfigFields
  parent: ContainerConfigFields | null
}): string[] => [
  ...new Set([...(own.volumes ?? []), ...(parent?.volumes ?? [])].map((volume) => volume.name).filter(Boolean)),
]
