import type { ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../api/client.ts'
import { currentTeam, meQuery, rememberTeam, useDeniedPart } from '../api/me.ts'
import { confirm } from '../components/confirm.tsx'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { TeamFields, TeamForm } from './team-fields.tsx'

/** A new slug changes every address of the team, so it is asked about, and the browser follows when it was the current team. */
export function TeamEdit({ team, onClose }: { team: ResponseOf<'teams.get'>; onClose: () => void }) {
  const { t } = useTranslation(['teams', 'common'])
  const navigate = useNavigate()
  const slugDenied = useDeniedPart('teams.slug')
  const form = useForm({ resolver: zodResolver(TeamForm), defaultValues: { name: team.name, slug: team.slug } })
  const update = useCall('teams.update', {
    stale: [queryKey('teams.list'), queryKey('teams.get')],
    onSuccess: async (_, { body }) => {
      const wasCurrent = currentTeam(queryClient.getQueryData(meQuery().queryKey)?.teams ?? [])?.id === team.id
      if (wasCurrent) rememberTeam(body.slug)
      await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })
      toastSuccess(t('updated', { name: body.name }))
      await navigate({ to: '.', hash: '' })
    },
  })
  const save = async (body: TeamForm) => {
    const question = {
      title: t('form.slugChangeTitle', { slug: body.slug }),
      text: t('form.slugChangeText', { old: team.slug }),
      action: t('form.slugChange'),
    }
    if (body.slug !== team.slug && !(await confirm(question))) return
    await update.mutateAsync({ params: { teamId: team.id }, body })
  }
  return (
    <FormSheet
      title={t('form.editTitle', { name: team.name })}
      form={form}
      call={update}
      onClose={onClose}
      onSubmit={save}
    >
      <TeamFields form={form} suggest={false} slugDenied={slugDenied} />
    </FormSheet>
  )
}
