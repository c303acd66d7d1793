import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { LogOut, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { meQuery, useMe } from '../../api/me.ts'
import type { Action } from '../../components/Menu.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { links } from '../../routing/links.ts'
import { listOwners } from './members.ts'

/** Leave and delete; both end at the entry, which finds the next team. */
export function useLeaveOrDelete(team: ResponseOf<'teams.get'>): Action[] {
  const { t } = useTranslation('teams')
  const navigate = useNavigate()
  const me = useMe()
  const gone = (text: string) => async () => {
    queryClient.removeQueries({ queryKey: queryKey('teams.get') })
    await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })
    toastSuccess(text)
    await navigate(links.home())
  }
  const stale = [queryKey('teams.list')]
  const leave = useCall('teams.leave', { stale, onSuccess: gone(t('details.left', { name: team.name })) })
  const remove = useCall('teams.delete', { stale, onSuccess: gone(t('details.deleted', { name: team.name })) })
  const params = { teamId: team.id }
  const owners = listOwners(team)
  const lastOwner = owners.length === 1 && owners[0]?.id === me?.user.id
  // An installation without team creation also does not allow deleting teams.
  const fixed = me?.teamCreation === false ? t('details.fixed') : null
  return [
    {
      id: 'leave',
      icon: LogOut,
      label: t('details.leave'),
      disabledReason: leave.denied ?? fixed ?? (lastOwner && t('details.lastOwnerLeaves')),
      run: () => {
        const question = {
          title: t('details.leaveTitle', { name: team.name }),
          text: t('details.leaveText'),
          action: t('details.leave'),
          danger: true,
        }
        void leave.ask(question, { params })
      },
    },
    {
      id: 'delete',
      icon: Trash2,
      label: t('details.delete'),
      danger: true,
      disabledReason: remove.denied ?? fixed,
      run: () => {
        const { nodes, projects, deployments } = team.statistics
        const question = {
          title: t('details.deleteTitle', { name: team.name }),
          text: t('details.deleteText', { projects, nodes, deployments }),
          action: t('details.delete'),
          danger: true,
          typeName: team.slug,
        }
        void remove.ask(question, { params })
      },
    },
  ]
}
