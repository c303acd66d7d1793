import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { ChipsField, SwitchField, TextField } from './fields.tsx'
import { googleHosts, hasUrl, type RegistryInput, type RegistryValues } from './registry-values.ts'

export type RegistryFormApi = UseFormReturn<RegistryInput, unknown, RegistryValues>
type Shown = Parameters<typeof hasUrl>[0]

/** Where the images are: the fields that a type has of address, namespace and prefix. */
export function RegistryLocation({ form, shown }: { form: RegistryFormApi; shown: Shown }) {
  const { t } = useTranslation('registries')
  const { type } = shown
  return (
    <>
      {type === 'unchecked' && (
        <SwitchField form={form} name="local" label={t('form.local')} help={t('form.localHelp')} />
      )}
      {type === 'google' && (
        <ChipsField
          form={form}
          name="googleHost"
          label={t('form.googleHost')}
          options={googleHosts.map((value) => ({ value, label: value === 'artifact' ? t('form.artifact') : value }))}
        />
      )}
      <Namespace form={form} type={type} />
      {type === 'gitlab' && (
        <SwitchField form={form} name="selfManaged" label={t('form.selfManaged')} help={t('form.selfManagedHelp')} />
      )}
      {type === 'gitlab' && shown.selfManaged && (
        <TextField
          form={form}
          name="apiUrl"
          label={t('form.apiUrl')}
          help={t('form.apiUrlHelp')}
          mono
          inputMode="url"
          placeholder="gitlab.example.com"
        />
      )}
      {hasUrl(shown) && (
        <TextField
          form={form}
          name="url"
          label={t(type === 'gitlab' ? 'form.registryUrl' : 'form.url')}
          help={t(type === 'google' ? 'form.artifactHelp' : 'form.urlHelp')}
          mono
          inputMode="url"
          placeholder={type === 'google' ? 'europe-west1-docker.pkg.dev' : 'registry.example.com'}
        />
      )}
      <Prefix form={form} type={type} />
    </>
  )
}

function Namespace({ form, type }: { form: RegistryFormApi; type: Shown['type'] }) {
  const { t } = useTranslation('registries')
  if (type === 'gitlab')
    return (
      <ChipsField
        form={form}
        name="gitlabNamespace"
        label={t('form.namespace')}
        options={(['group', 'project'] as const).map((value) => ({ value, label: t(`form.namespaceOption.${value}`) }))}
      />
    )
  if (type === 'github')
    return (
      <ChipsField
        form={form}
        name="githubNamespace"
        label={t('form.namespace')}
        options={(['organization', 'user'] as const).map((value) => ({
          value,
          label: t(`form.namespaceOption.${value}`),
        }))}
      />
    )
  return null
}

const placeholders = {
  v2: undefined,
  hub: 'library',
  gitlab: 'group/project',
  github: 'octocat',
  google: 'project/repository',
} as const

function Prefix({ form, type }: { form: RegistryFormApi; type: Shown['type'] }) {
  const { t } = useTranslation('registries')
  if (type === 'unchecked') return null
  return (
    <TextField
      form={form}
      name="imageNamePrefix"
      label={t(`form.prefix.${type}`)}
      help={t(`form.prefixHelp.${type}`)}
      mono
      optional={type === 'v2'}
      placeholder={placeholders[type]}
    />
  )
}
