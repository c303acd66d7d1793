import { type ResponseOf, VersionCreate } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import { nextVersion } from './next-version.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

/** https://semver.org: a hint only, any name is accepted. */
const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

type Props = {
  teamSlug: string
  projectId: string
  version?: Pick<ResponseOf<'versions.get'>, 'id' | 'name' | 'type' | 'changelog'> & { autoCopyDeployments?: boolean }
  /** The given version is not updated, but copied to a new one. */
  increase?: boolean
  onClose: () => void
}

/** Creates a version, updates the given one, or increases it. */
export function VersionForm({ teamSlug, projectId, version, increase, onClose }: Props) {
  const { t } = useTranslation(['versions', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const edited = increase ? undefined : version
  const form = useZodForm(VersionCreate, {
    name: edited?.name ?? (version ? nextVersion(version.name) : ''),
    changelog: edited?.changelog ?? '',
    type: version?.type ?? 'incremental',
    autoCopyDeployments: edited?.autoCopyDeployments ?? true,
  })
  const [name, type] = form.watch(['name', 'type'])
  const end = {
    stale: [queryKey('projects.get'), queryKey('versions.get'), queryKey('projects.list'), queryKey('dashboard.get')],
    onSuccess: (made: { id: string; name: string }) =>
      created(links.version(teamSlug, projectId, made.id), t('created', { name: made.name })),
  }
  const createCall = useCall('versions.create', end)
  const increaseCall = useCall('versions.increase', end)
  const updateCall = useCall('versions.update', {
    stale: [queryKey('versions.get'), queryKey('projects.get')],
    onSuccess: (_, { body }) => updated(t('saved', { name: body.name })),
  })
  const shell = edited
    ? { title: t('form.editTitle', { name: edited.name }), call: updateCall }
    : version
      ? {
          title: t('form.increaseTitle', { name: version.name }),
          description: t('form.increaseText', { name: version.name }),
          submitLabel: t('form.increase'),
          call: increaseCall,
        }
      : { title: t('form.createTitle'), submitLabel: t('form.create'), call: createCall }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      onSubmit={({ autoCopyDeployments, ...values }) => {
        const named = { name: values.name, changelog: values.changelog || null }
        const params = { teamSlug, projectId, versionId: version?.id ?? '' }
        if (edited) return updateCall.mutateAsync({ params, body: { ...named, autoCopyDeployments } })
        if (version) return increaseCall.mutateAsync({ params, body: named })
        return createCall.mutateAsync({
          params: { teamSlug, projectId },
          body: { ...named, type, autoCopyDeployments: type === 'incremental' && autoCopyDeployments },
        })
      }}
    >
      <TextField
        form={form}
        name="name"
        label={t('form.name')}
        mono
        autoComplete="off"
        help={name && !semver.test(name) ? t('form.notSemver') : undefined}
      />
      <TextAreaField form={form} name="changelog" label={t('form.changelog')} optional rows={4} />
      {!version && (
        <ChipsField
          form={form}
          name="type"
          label={t('form.type')}
          help={t(type === 'rolling' ? 'form.rollingHelp' : 'form.incrementalHelp')}
          options={[
            { value: 'incremental', label: t('form.incremental') },
            { value: 'rolling', label: t('form.rolling') },
          ]}
        />
      )}
      {type === 'incremental' && !increase && (
        <SwitchField form={form} name="autoCopyDeployments" label={t('form.autoCopy')} help={t('form.autoCopyHelp')} />
      )}
    </FormSheet>
  )
}
