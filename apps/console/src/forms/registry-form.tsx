import type { ResponseOf } from '@crux/contract'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { Button } from '../components/Button.tsx'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, IconField, PasswordField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import { emptyRegistry, fromRegistry, RegistryValues, toRegistryWrite } from './registry-values.ts'
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
  const [type, access, local, change] = useWatch({
    control: form.control,
    name: ['type', 'access', 'local', 'changeCredentials'],
  })
  const onNode = type === 'unchecked' && local
  const shell = registry
    ? { title: t('form.editTitle', { name: registry.name }), submitLabel: t('form.submitEdit'), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
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
        help={type === 'unchecked' ? t('form.unchecked') : t('form.laterHelp')}
        options={[
          { value: 'v2', label: t('type.v2') },
          { value: 'hub', label: t('type.hub') },
          { value: 'unchecked', label: t('type.unchecked') },
        ]}
      />
      {type === 'unchecked' && (
        <SwitchField form={form} name="local" label={t('form.local')} help={t('form.localHelp')} />
      )}
      {type !== 'hub' && !onNode && (
        <TextField
          form={form}
          name="url"
          label={t('form.url')}
          help={t('form.urlHelp')}
          mono
          inputMode="url"
          placeholder="registry.example.com"
        />
      )}
      {type !== 'unchecked' && (
        <TextField
          form={form}
          name="imageNamePrefix"
          label={t(type === 'hub' ? 'form.hubPrefix' : 'form.imageNamePrefix')}
          help={t(type === 'hub' ? 'form.hubPrefixHelp' : 'form.imageNamePrefixHelp')}
          mono
          optional={type === 'v2'}
          placeholder={type === 'hub' ? 'library' : undefined}
        />
      )}
      {!onNode && (
        <ChipsField
          form={form}
          name="access"
          label={t('form.access')}
          options={[
            { value: 'public', label: t('form.public') },
            { value: 'private', label: t('form.private') },
          ]}
          onPick={(value) => {
            // Docker Hub accounts mostly are the prefix itself.
            if (value === 'private' && type === 'hub' && form.getValues('user') === '')
              form.setValue('user', form.getValues('imageNamePrefix'))
          }}
        />
      )}
      {!onNode && access === 'private' && (
        <>
          {registry?.details.hasCredentials && (
            <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
              <span className="flex-1">{t('form.credentialsKept', { user: registry.details.user ?? '' })}</span>
              <Button size="sm" onClick={() => form.setValue('changeCredentials', !change, { shouldDirty: true })}>
                {change ? t('form.keepCredentials') : t('form.changeCredentials')}
              </Button>
            </div>
          )}
          {change && (
            <>
              <TextField form={form} name="user" label={t('form.user')} autoComplete="off" mono />
              <PasswordField
                form={form}
                name="token"
                label={t('form.token')}
                help={t('form.tokenHelp')}
                autoComplete="new-password"
              />
            </>
          )}
        </>
      )}
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </FormSheet>
  )
}
