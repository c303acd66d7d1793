import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe, useTeamOrNone } from '../../api/me.ts'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { numberColumn } from '../../table/named-columns.tsx'
import { countMembers } from './members.ts'

const TeamForm = lazyComponent(async () => (await import('../../forms/team-form.tsx')).TeamForm)

type Team = ResponseOf<'teams.list'>[number]

export function TeamsPage() {
  const { t } = useTranslation('teams')
  const query = useQuery(apiQuery('teams.list'))
  const columns = useColumns()
  const current = useTeamOrNone()
  const me = useMe()
  const navigate = useNavigate()
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(teams) => t('sub', { count: teams.length })}
      add={{
        label: t('add'),
        denied: me?.teamCreation === false && t('closed'),
        form: (onClose) => <TeamForm onClose={onClose} />,
      }}
      skeleton={<SkeletonRows rows={3} filters />}
      search={t('filter')}
      searchText={(team) => [team.name, team.slug]}
      columns={columns}
      actions={(team) =>
        team.id === current?.id
          ? []
          : [
              {
                id: 'switch',
                label: t('switch'),
                icon: ArrowRight,
                inline: true,
                run: () => void navigate(links.teamHome(team.slug)),
              },
            ]
      }
    />
  )
}

function useColumns(): Column<Team>[] {
  const { t } = useTranslation(['teams', 'common'])
  const me = useMe()
  const current = useTeamOrNone()
  const count = (name: 'projects' | 'nodes' | 'versions' | 'deployments') =>
    numberColumn<Team>(name, t(`column.${name}`), (team) => team.statistics[name])
  return [
    {
      id: 'name',
      header: t('column.name'),
      narrow: 'title',
      sort: (team) => team.name,
      cell: (team) => (
        <span className="inline-flex items-center gap-2">
          <TextLink {...links.team(team.id)} strong>
            {team.name}
          </TextLink>
          <Tag className="whitespace-nowrap">{team.slug}</Tag>
          {team.id === current?.id && <Pill tone="accent">{t('current')}</Pill>}
        </span>
      ),
    },
    {
      id: 'role',
      header: t('column.role'),
      cell: (team) => t(`common:role.${me?.teams.find((own) => own.id === team.id)?.role ?? 'user'}`),
    },
    numberColumn('members', t('column.members'), (team) => countMembers(team).members),
    count('projects'),
    count('nodes'),
    count('versions'),
    count('deployments'),
  ]
}
