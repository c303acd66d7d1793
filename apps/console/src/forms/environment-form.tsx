import { EnvironmentWrite } from '@crux/contract'
import { getPrefix } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { FormSheet } from './FormShell.tsx'
import { TextField } from './fields.tsx'
import { NodeField } from './node-field.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = {
  teamSlug: string
  packageId: string
  packageName: string
  environment?: { id: string; name: string; prefix: string; node: { id: string } }
  /** Why its node and prefix cannot be changed. */
  frozen?: string | null
  onClose: () => void
}

const stale = [
  queryKey('packages.list'),
  queryKey('packages.get'),
  queryKey('packages.board'),
  queryKey('packages.get-environment'),
]

/** Creates an environment of a package, or updates the given one. The prefix is proposed from both names until it is typed. */
export function EnvironmentForm({ teamSlug, packageId, packageName, environment, frozen, onClose }: Props) {
  const { t } = useTranslation(['packages', 'common'])
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(EnvironmentWrite, {
    name: environment?.name ?? '',
    nodeId: environment?.node.id ?? '',
    prefix: environment?.prefix ?? '',
  })
  const create = useCall('packages.create-environment', {
    stale,
    onSuccess: ({ name }) => updated(t('environment.created', { name })),
  })
  const update = useCall('packages.update-environment', {
    stale,
    onSuccess: (_, { body: { name } }) => updated(t('environment.saved', { name })),
  })
  const params = { teamSlug, packageId }
  const shell = environment
    ? { title: t('environment.editTitle', { name: environment.name }), call: update }
    : { title: t('environment.createTitle'), submitLabel: t('environment.submit'), call: create }
  const propose = (name: string) => {
    if (environment || form.formState.dirtyFields.prefix) return
    form.setValue('prefix', name.trim() ? getPrefix(`${packageName}-${name}`) : '', {
      shouldValidate: form.formState.isSubmitted,
    })
  }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      onSubmit={(body) =>
        environment
          ? update.mutateAsync({ params: { ...params, environmentId: environment.id }, body })
          : create.mutateAsync({ params, body })
      }
    >
      <TextField
        form={form}
        name="name"
        label={t('common:name')}
        autoComplete="off"
        placeholder={t('environment.namePlaceholder')}
        onInput={() => propose(form.getValues('name'))}
      />
      {frozen && <p className="rounded-md bg-sunken px-2.5 py-2 text-ink-2">{frozen}</p>}
      <NodeField form={form} name="nodeId" teamSlug={teamSlug} disabled={Boolean(frozen)} />
      <TextField
        form={form}
        name="prefix"
        label={t('environment.prefix')}
        help={t('environment.prefixHelp')}
        mono
        readOnly={Boolean(frozen)}
      />
    </FormSheet>
  )
}
