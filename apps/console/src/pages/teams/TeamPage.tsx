import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ArrowRight, Pencil } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { currentTeam, useDenied, useMe } from '../../api/me.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { Tag } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { Members } from './Members.tsx'
import { awaitsAnswer, countMembers } from './members.ts'
import { ServiceAccounts } from './ServiceAccounts.tsx'
import { TeamSecurity } from './TeamSecurity.tsx'
import { useLeaveOrDelete } from './use-leave-or-delete.ts'

const TeamForm = lazyComponent(async () => (await import('../../forms/team-form.tsx')).TeamForm)

const answersEveryMs = 10_000

const route = getRouteApi('/app/teams/$teamId')

export function TeamPage() {
  const { teamId } = route.useParams()
  const query = useQuery({
    ...apiQuery('teams.get', { params: { teamId } }),
    // Whether a mail is refused shows a moment after the invitation, and answers come from other browsers.
    refetchInterval: ({ state }) => (state.data?.users.some(awaitsAnswer) ? answersEveryMs : false),
  })
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(team) => <TeamView team={team} />}
    </QueryView>
  )
}

function TeamView({ team }: { team: ResponseOf<'teams.get'> }) {
  const { t } = useTranslation(['teams', 'common'])
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const denied = useDenied('teams.update')
  const actions = useLeaveOrDelete(team)
  const { statistics } = team
  const { members, invited } = countMembers(team)
  const isCurrent = currentTeam(useMe()?.teams ?? [])?.slug === team.slug
  return (
    <>
      <PageHeader
        title={team.name}
        crumbs={[{ label: t('title'), link: links.teams() }]}
        mark={<Tag>{team.slug}</Tag>}
        actions={
          <>
            {!isCurrent && (
              <Button icon={ArrowRight} onClick={() => void navigate(links.teamHome(team.slug))}>
                {t('switch')}
              </Button>
            )}
            <Button icon={Pencil} disabledReason={denied} onClick={anchor.show}>
              {t('common:edit')}
            </Button>
            <ActionMenu actions={actions} />
          </>
        }
      />
      <div className="grid gap-4">
        <Box label={t('details.facts')}>
          <DescriptionList
            items={[
              { label: t('column.members'), value: members },
              ...(invited > 0 ? [{ label: t('details.invited'), value: invited }] : []),
              { label: t('column.projects'), value: statistics.projects },
              { label: t('column.nodes'), value: statistics.nodes },
              { label: t('column.versions'), value: statistics.versions },
              { label: t('column.deployments'), value: statistics.deployments },
            ]}
          />
        </Box>
        <Members team={team} />
        <TeamSecurity team={team} />
        <ServiceAccounts team={team} />
      </div>
      {anchor.open && !denied && <TeamForm team={team} onClose={anchor.close} />}
    </>
  )
}
