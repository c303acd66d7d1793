import { PackageWrite, type ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { IconField, TextAreaField, TextField } from './fields.tsx'
import { PackageChains } from './package-chains.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; details?: ResponseOf<'packages.get'>; onClose: () => void }

const stale = [
  queryKey('packages.list'),
  queryKey('packages.get'),
  queryKey('packages.board'),
  queryKey('packages.get-environment'),
]

/** Creates a package, or updates the given one with the projects that belong to it. */
export function PackageForm({ teamSlug, details, onClose }: Props) {
  const { t } = useTranslation(['packages', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const known = [...(details?.versionChains ?? []), ...(details?.emptyChains ?? [])]
  const form = useZodForm(PackageWrite, {
    name: details?.name ?? '',
    description: details?.description ?? '',
    icon: details?.icon ?? null,
    chainIds: known.map(({ id }) => id),
  })
  const create = useCall('packages.create', {
    stale,
    onSuccess: ({ id, name }) => created(links.package(teamSlug, id), t('created', { name })),
  })
  const update = useCall('packages.update', {
    stale,
    onSuccess: (_, { body: { name } }) => updated(t('saved', { name })),
  })
  const shell = details
    ? { title: t('form.editTitle', { name: details.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      width="wide:w-[520px]"
      onSubmit={({ description, ...values }) => {
        const body = { ...values, description: description || null }
        return details
          ? update.mutateAsync({ params: { teamSlug, packageId: details.id }, body })
          : create.mutateAsync({ params: { teamSlug }, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <PackageChains
        teamSlug={teamSlug}
        known={known}
        value={form.watch('chainIds')}
        error={form.formState.errors.chainIds?.message}
        onChange={(ids) => form.setValue('chainIds', ids, { shouldDirty: true })}
      />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </FormSheet>
  )
}
