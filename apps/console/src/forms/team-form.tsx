import { type ResponseOf, reservedTeamSlugs, TeamWrite } from '@crux/contract'
import { getTeamSlug } from '@crux/rules'
import { useNavigate } from '@tanstack/react-router'
import i18n from 'i18next'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { queryClient, queryKey, useCall } from '../api/client.ts'
import { currentTeam, meQuery, rememberTeam, useDeniedPart } from '../api/me.ts'
import { confirm } from '../components/confirm.tsx'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { FormPanel, FormSheet } from './FormShell.tsx'
import { TextField } from './fields.tsx'
import { useZodForm } from './use-form.ts'

/** The contract's rules and the names that routes reserve. */
const schema = TeamWrite.refine((values) => !reservedTeamSlugs.some((reserved) => reserved === values.slug), {
  path: ['slug'],
  error: () => i18n.t('teams:form.reserved'),
})

type Props = { team?: ResponseOf<'teams.get'>; onClose: () => void; shape?: 'sheet' | 'panel' }

/**
 * Creates a team and goes into it, or updates the given one. A new slug changes every address of the team, so it is asked about, and
 * the browser follows when it was the current team. `panel` is the first-team page, which has no frame.
 */
export function TeamForm({ team, onClose, shape = 'sheet' }: Props) {
  const { t } = useTranslation(['teams', 'common'])
  const navigate = useNavigate()
  const slugPartDenied = useDeniedPart('teams.slug')
  const slugDenied = team ? slugPartDenied : null
  const form = useZodForm(schema, { name: team?.name ?? '', slug: team?.slug ?? '' })
  const create = useCall('teams.create', {
    stale: [queryKey('teams.list')],
    onSuccess: async ({ name, slug }) => {
      // The team's pages open only for teams that the user is known to be in.
      await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })
      toastSuccess(t('created', { name }))
      await navigate(links.dashboard(slug))
    },
  })
  const update = useCall('teams.update', {
    stale: [queryKey('teams.list'), queryKey('teams.get')],
    onSuccess: async (_, { body: { name, slug } }) => {
      const current = currentTeam(queryClient.getQueryData(meQuery().queryKey)?.teams ?? [])
      if (current && current.id === team?.id) rememberTeam(slug)
      await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })
      toastSuccess(t('updated', { name }))
      await navigate({ to: '.', hash: '' })
    },
  })
  const onSubmit = async (body: z.output<typeof schema>) => {
    if (!team) return create.mutateAsync({ body })
    const question = {
      title: t('form.slugChangeTitle', { slug: body.slug }),
      text: t('form.slugChangeText', { old: team.slug }),
      action: t('form.slugChange'),
    }
    if (body.slug !== team.slug && !(await confirm(question))) return
    await update.mutateAsync({ params: { teamId: team.id }, body })
  }
  // Typing the name fills the slug until the slug itself has been touched.
  const touched = useRef(team !== undefined)
  const slug = form.watch('slug')
  const tall = shape === 'panel'
  const fields = (
    <>
      <TextField
        form={form}
        name="name"
        label={t('form.name')}
        autoComplete="organization"
        tall={tall}
        onInput={() => {
          if (!touched.current)
            form.setValue('slug', getTeamSlug(form.getValues('name')), { shouldValidate: form.formState.isSubmitted })
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
  if (shape === 'panel')
    return (
      <FormPanel
        form={form}
        onSubmit={onSubmit}
        submitLabel={t('form.create')}
        loading={create.isPending}
        error={create.error}
        disabledReason={create.denied}
      >
        {fields}
      </FormPanel>
    )
  const sheet = team
    ? { title: t('form.editTitle', { name: team.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.create'), call: create }
  return (
    <FormSheet {...sheet} form={form} onSubmit={onSubmit} onClose={onClose}>
      {fields}
    </FormSheet>
  )
}
