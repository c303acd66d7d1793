import { type Path, type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { SwitchField, TextAreaField, TextField } from './fields.tsx'

type Named = { name: string; changelog?: string | null; autoCopyDeployments?: boolean | null }

/** https://semver.org: a hint only, any name is accepted. */
const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/** Name and changelog, as every version form has them. */
export function VersionNameFields<V extends Named, Out>({ form }: { form: UseFormReturn<V, unknown, Out> }) {
  const { t } = useTranslation('versions')
  const name: string = useWatch({ control: form.control as never, name: 'name' })
  return (
    <>
      <TextField
        form={form}
        name={'name' as Path<V>}
        label={t('form.name')}
        mono
        autoComplete="off"
        help={name && !semver.test(name) ? t('form.notSemver') : undefined}
      />
      <TextAreaField form={form} name={'changelog' as Path<V>} label={t('form.changelog')} optional rows={4} />
    </>
  )
}

export function AutoCopyField<V extends Named, Out>({ form }: { form: UseFormReturn<V, unknown, Out> }) {
  const { t } = useTranslation('versions')
  return (
    <SwitchField
      form={form}
      name={'autoCopyDeployments' as Path<V>}
      label={t('form.autoCopy')}
      help={t('form.autoCopyHelp')}
    />
  )
}
