import { type ResponseOf, registryTypes } from '@crux/contract'
import { useMemo } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, IconField, TextAreaField, TextField } from './fields.tsx'
import { RegistryCredentials } from './registry-form-credentials.tsx'
import { RegistryLocation } from './registry-form-location.tsx'
import { emptyRegistry, fromRegistry, RegistryValues, replacedFields, toRegistryWrite } from './registry-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; registry?: ResponseOf<'registries.get'>; onClose: () => void }

/**
 * Creates a registry, or updates the given one. The server reaches it before anything is stored, so a wrong address or credential comes
 * back at its field.
 */
export function RegistryForm({ teamSlug, registry, onClose }: Props) {
  const { t } = useTranslation(['registries', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const form = useZodForm(RegistryValues, registry ? fromRegistry(registry) : emptyRegistry)
  const create = useCall('registries.create', {
    stale: [queryKey('registries.list'), queryKey('dashboard.get')],
    onSuccess: ({ id, name }) => created(links.registry(teamSlug, id), t('created', { name })),
  })
  const update = useCall('registries.update', {
    stale: [queryKey('registries.list'), queryKey('registries.get')],
    onSuccess: (_, { body: { name } }) => updated(t('updated', { name })),
  })
  const [type, access, local, changeCredentials, selfManaged, googleHost] = useWatch({
    control: form.control,
    name: ['type', 'access', 'local', 'changeCredentials', 'selfManaged', 'googleHost'],
  })
  const shown = { type, access, local, changeCredentials, selfManaged, googleHost }
  const fields = useMemo(
    () => replacedFields({ type, access, local, changeCredentials, selfManaged, googleHost }),
    [type, access, local, changeCredentials, selfManaged, googleHost],
  )
  const shell = registry
    ? { title: t('form.editTitle', { name: registry.name }), submitLabel: t('form.submitEdit'), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      fields={fields}
      onClose={onClose}
      onSubmit={(values) => {
        const body = toRegistryWrite(values)
        return registry
          ? update.mutateAsync({ params: { teamSlug, registryId: registry.id }, body })
          : create.mutateAsync({ params: { teamSlug }, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <ChipsField
        form={form}
        name="type"
        label={t('form.type')}
        help={type === 'unchecked' ? t('form.unchecked') : undefined}
        options={registryTypes.map((value) => ({ value, label: t(`type.${value}`) }))}
        // A credential of one service must not be sent to another one.
        onPick={() => {
          if (!changeCredentials) return
          form.setValue('user', '')
          form.setValue('token', '')
        }}
      />
      <RegistryLocation form={form} shown={shown} />
      <RegistryCredentials form={form} shown={shown} registry={registry} />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </FormSheet>
  )
}
