import { reservedTeamSlugs, TeamWrite } from '@crux/contract'
import { teamSlugOf } from '@crux/rules'
import i18n from 'i18next'
import { useRef } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { TextField } from './fields.tsx'

/** The contract's rules and the names that routes reserve. */
export const TeamForm = TeamWrite.refine((values) => !reservedTeamSlugs.some((word) => word === values.slug), {
  path: ['slug'],
  error: () => i18n.t('teams:form.reserved'),
})
export type TeamForm = z.output<typeof TeamForm>

/** Typing the name fills the slug until the slug itself has been touched. */
export function TeamFields({
  form,
  suggest,
  tall,
  slugDenied,
}: {
  form: UseFormReturn<z.input<typeof TeamForm>, unknown, TeamForm>
  suggest: boolean
  tall?: boolean
  /** Why this person may change the name only. */
  slugDenied?: string | null
}) {
  const { t } = useTranslation('teams')
  const touched = useRef(!suggest)
  const slug = useWatch({ control: form.control, name: 'slug' })
  return (
    <>
      <TextField
        form={form}
        name="name"
        label={t('form.name')}
        autoComplete="organization"
        tall={tall}
        onInput={() => {
          if (!touched.current)
            form.setValue('slug', teamSlugOf(form.getValues('name')), { shouldValidate: form.formState.isSubmitted })
        }}
      />
      <TextField
        form={form}
        name="slug"
        label={t('form.slug')}
        help={slugDenied ?? t('form.slugHelp', { host: location.host, slug: slug || '...' })}
        disabled={Boolean(slugDenied)}
        mono
        tall={tall}
        autoComplete="off"
        onInput={() => {
          touched.current = true
        }}
      />
    </>
  )
}
