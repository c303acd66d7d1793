import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../api/client.ts'
import { meQuery } from '../api/me.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { FormPanel, FormSheet } from './FormShell.tsx'
import { TeamFields, TeamForm } from './team-fields.tsx'

/** Creates a team and goes into it; `panel` is the first-team page, which has no frame. */
export function TeamCreate({ onClose, shape = 'sheet' }: { onClose: () => void; shape?: 'sheet' | 'panel' }) {
  const { t } = useTranslation('teams')
  const navigate = useNavigate()
  const form = useForm({ resolver: zodResolver(TeamForm), defaultValues: { name: '', slug: '' } })
  const create = useCall('teams.create', {
    stale: [queryKey('teams.list')],
    onSuccess: async (team) => {
      // The team's pages open only for teams that the person is known to be in.
      await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })
      toastSuccess(t('created', { name: team.name }))
      await navigate(links.dashboard(team.slug))
    },
  })
  const shell = {
    form,
    submitLabel: t('form.create'),
    onSubmit: (body: TeamForm) => create.mutateAsync({ body }),
  }
  if (shape === 'panel')
    return (
      <FormPanel {...shell} loading={create.isPending} error={create.error} disabledReason={create.denied}>
        <TeamFields form={form} suggest tall />
      </FormPanel>
    )
  return (
    <FormSheet {...shell} call={create} title={t('form.createTitle')} onClose={onClose}>
      <TeamFields form={form} suggest />
    </FormSheet>
  )
}
