import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../../api/client.ts'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { Section, Setting, SettingGrid } from '../form/Section.tsx'
import { SettingChips, SettingSelect } from './SettingControls.tsx'
import { SettingField, useChangePart } from './SettingField.tsx'

/** Files that are copied from a storage into a volume before the container starts. */
export function StorageSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value } = getSetting(form, 'storage')
  const chooseStorage = useChangePart('storage', 'storageId')
  const changeVolume = useChangePart('storage', 'path')
  const storages = useQuery(apiQuery('storages.options', { params: { teamSlug: form.teamSlug } }))
  const volumes = [...(form.own.volumes ?? []), ...(form.parent?.volumes ?? [])].map(({ name }) => name).filter(Boolean)
  const chosen = value?.storageId ?? null
  const known = storages.data?.some((storage) => storage.id === chosen)
  const offered = [...new Set([...volumes, ...(value?.path ? [value.path] : [])])]
  return (
    <Section id="storage" origin="storage">
      <SettingGrid>
        <Setting
          label={t('storage.storage')}
          error={form.getError('storage.storageId') ?? form.getError('storage')}
          help={storages.isError ? t('storage.unknown') : t('storage.help')}
        >
          <SettingSelect
            inputId="storage.storageId"
            label={t('storage.storage')}
            value={chosen ?? ''}
            onChange={(id) => (id === '' ? form.edit('storage', null) : chooseStorage(id))}
            options={[
              { value: '', label: t('storage.none') },
              ...(chosen && !known ? [{ value: chosen, label: chosen }] : []),
              ...(storages.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </Setting>
        <BucketInput storageId={chosen} />
        <Setting
          wide
          label={t('storage.volume')}
          error={form.getError('storage.path')}
          help={t(volumes.length === 0 ? 'storage.noVolumes' : 'storage.volumeHelp')}
        >
          {offered.length > 0 && (
            <SettingChips
              inputId="storage.path"
              label={t('storage.volume')}
              value={value?.path ?? ''}
              disabled={!chosen}
              onChange={(path) => changeVolume(path || null)}
              options={offered.map((name) => ({ value: name, label: <span className="mono">{name}</span> }))}
            />
          )}
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
    <SettingField
      field="storage"
      part="bucket"
      label="storage.bucket"
      placeholder="assets/v1"
      disabled={!storageId}
      suggestions={buckets ?? undefined}
      note={<span aria-busy={check.isLoading || undefined}>{said()}</span>}
    />
  )
}
