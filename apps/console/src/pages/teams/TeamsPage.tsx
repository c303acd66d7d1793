import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ArrowRight, Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe, useTeamOrNone } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { countMembers } from './members.ts'

const TeamForm = lazyComponent(() => import('../../forms/team-form.tsx').then((module) => module.TeamForm))

type Team = ResponseOf<'teams.list'>[number]

export function TeamsPage() {
  const { t } = useTranslation('teams')
  const query = useQuery(apiQuery('teams.list'))
  const columns = useColumns()
  const current = useTeamOrNone()
  const me = useMe()
  const navigate = useNavigate()
  const anchor = useAnchor('new')
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={query.data ? t('sub', { count: query.data.length }) : '\u00a0'}
        actions={
          <Button
            variant="main"
            icon={Plus}
            disabledReason={me?.teamCreation === false && t('closed')}
            onClick={anchor.show}
          >
            {t('add')}
          </Button>
        }
      />
      <QueryView query={query} skeleton={<SkeletonRows rows={3} filters />}>
        {(teams) => (
          <FilteredList rows={teams} search={t('filter')} searchText={(team) => [team.name, team.slug]}>
            {(rows) => (
              <DataTable
                label={t('title')}
                rows={rows}
                columns={columns}
                rowKey={(team) => team.id}
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
            )}
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && me?.teamCreation !== false && <TeamForm onClose={anchor.close} />}
    </>
  )
}

function useColumns(): Column<Team>[] {
  const { t } = useTranslation(['teams', 'common'])
  const me = useMe()
  const current = useTeamOrNone()
  const number = (id: 'projects' | 'nodes' | 'versions' | 'deployments'): Column<Team> => ({
    id,
    header: t(`column.${id}`),
    align: 'right',
    narrow: 'none',
    sort: (team) => team.statistics[id],
    cell: (team) => team.statistics[id],
  })
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
    {
      id: 'members',
      header: t('column.members'),
      align: 'right',
      narrow: 'none',
      sort: (team) => countMembers(team).members,
      cell: (team) => countMembers(team).members,
    },
    number('projects'),
    number('nodes'),
    number('versions'),
    number('deployments'),
  ]
}
