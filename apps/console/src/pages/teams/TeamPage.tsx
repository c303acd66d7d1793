import { isAllowed, type Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ArrowRight, LogOut, Pencil, Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe } from '../../api/me.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { Box, Facts } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { later } from '../../components/later.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { links } from '../../links.ts'
import { type Column, DataTable } from '../../table/DataTable.tsx'
import { filterRows } from '../../table/filter-rows.ts'

const TeamEdit = later(() => import('../../forms/team-edit.tsx').then((module) => module.TeamEdit))

const route = getRouteApi('/app/teams/$teamId')
type Member = Result<'teams.get'>['users'][number]

export function TeamPage() {
  const { teamId } = route.useParams()
  const query = useQuery(apiQuery('teams.get', { params: { teamId } }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(team) => <TeamView team={team} />}
    </QueryView>
  )
}

function TeamView({ team }: { team: Result<'teams.get'> }) {
  const { t } = useTranslation(['teams', 'common'])
  const me = useMe()
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const columns = useMemberColumns(me?.user.id)
  const [text, setText] = useState('')
  const role = me?.teams.find((own) => own.id === team.id)?.role ?? 'user'
  const denied = isAllowed(role, 'teams.edit')
    ? null
    : t('common:denied.role', { role: t('common:role.admin'), own: t(`common:role.${role}`) })
  const { statistics } = team
  return (
    <>
      <PageHead
        title={team.name}
        crumbs={[{ label: t('title'), link: links.teams() }]}
        mark={<Tag>{team.slug}</Tag>}
        tools={
          <>
            <Button icon={ArrowRight} onClick={() => void navigate(links.teamHome(team.slug))}>
              {t('switch')}
            </Button>
            <Button icon={Pencil} disabledReason={denied} onClick={anchor.show}>
              {t('common:edit')}
            </Button>
            <ActionMenu
              actions={[
                {
                  id: 'leave',
                  icon: LogOut,
                  label: t('details.leave'),
                  disabledReason: t('details.leavePlanned'),
                  run: () => {},
                },
                {
                  id: 'delete',
                  icon: Trash2,
                  label: t('details.delete'),
                  danger: true,
                  disabledReason: t('details.deletePlanned'),
                  run: () => {},
                },
              ]}
            />
          </>
        }
      />
      <Box className="mb-4" label={t('details.facts')}>
        <Facts
          items={[
            { label: t('column.members'), value: statistics.users },
            { label: t('column.projects'), value: statistics.projects },
            { label: t('column.nodes'), value: statistics.nodes },
            { label: t('column.versions'), value: statistics.versions },
            { label: t('column.deployments'), value: statistics.deployments },
          ]}
        />
      </Box>
      <Box
        title={t('details.members')}
        tools={
          <>
            <SearchBox value={text} onChange={setText} label={t('details.memberFilter')} className="w-56" />
            <Button icon={UserPlus} disabledReason={denied ?? t('details.invitePlanned')}>
              {t('details.invite')}
            </Button>
          </>
        }
      >
        <DataTable
          flush
          label={t('details.members')}
          rows={filterRows(team.users, text, (user) => [user.name, user.email])}
          columns={columns}
          rowKey={(user) => user.id}
        />
      </Box>
      {anchor.open && !denied && <TeamEdit team={team} onClose={anchor.close} />}
    </>
  )
}

function useMemberColumns(ownId: string | undefined): Column<Member>[] {
  const { t } = useTranslation(['teams', 'common'])
  return [
    {
      id: 'name',
      header: t('details.name'),
      narrow: 'title',
      sort: (user) => user.name,
      cell: (user) => (
        <span className="inline-flex items-center gap-2">
          <Avatar name={user.name} size="sm" />
          <span className="font-strong">{user.name}</span>
          {user.id === ownId && <Pill>{t('details.you')}</Pill>}
        </span>
      ),
    },
    { id: 'email', header: t('details.email'), sort: (user) => user.email, cell: (user) => user.email },
    { id: 'role', header: t('details.role'), sort: (user) => user.role, cell: (user) => t(`common:role.${user.role}`) },
    {
      id: 'status',
      header: t('details.status'),
      narrow: 'lead',
      sort: (user) => user.status,
      cell: (user) => <State kind="member" value={user.status} />,
    },
    {
      id: 'lastLogin',
      header: t('details.lastLogin'),
      align: 'right',
      narrow: 'end',
      sort: (user) => user.lastLogin,
      cell: (user) => <RelativeTime at={user.lastLogin} />,
    },
  ]
}
