import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe, useTeam } from '../../api/me.ts'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Activity } from './Activity.tsx'
import { Counters } from './Counters.tsx'
import { FirstSteps } from './FirstSteps.tsx'
import { InProgress } from './InProgress.tsx'
import { LatestDeployments } from './LatestDeployments.tsx'
import { NeedsAttention } from './NeedsAttention.tsx'
import { useFreshDashboard } from './use-fresh-dashboard.ts'

/** What needs attention, what is in progress, and how the team's deployments do. A team without a project sees its first steps. */
export function DashboardPage() {
  const { t } = useTranslation('dashboard')
  const { slug } = useTeam()
  const me = useMe()
  const query = useQuery(apiQuery('dashboard.get', { params: { teamSlug: slug } }))
  useFreshDashboard(slug, query.data)
  return (
    <>
      <PageHeader title={t('title')} subtitle={query.data ? <Summary dashboard={query.data} /> : '\u00a0'} />
      <QueryView query={query} skeleton={<SkeletonRows rows={4} />}>
        {(dashboard) => {
          const steps = me?.onboarding && <FirstSteps teamSlug={slug} onboarding={dashboard.onboarding} />
          if (steps && isEmptyTeam(dashboard))
            return (
              <div className="grid gap-4">
                <NeedsAttention teamSlug={slug} hiddenIfCalm />
                {steps}
              </div>
            )
          return (
            <div className="grid gap-4">
              <NeedsAttention teamSlug={slug} />
              <InProgress teamSlug={slug} count={dashboard.more.inProgressDeployments} />
              {!isComplete(dashboard) && steps}
              <Counters dashboard={dashboard} />
              <Activity teamSlug={slug} />
              <LatestDeployments teamSlug={slug} />
              {/* Collapsed by then, and not the user's next step. */}
              {isComplete(dashboard) && steps}
            </div>
          )
        }}
      </QueryView>
    </>
  )
}

type Dashboard = ResponseOf<'dashboard.get'>

const isComplete = ({ onboarding }: Dashboard) => Object.values(onboarding).every(({ done }) => done)
const isEmptyTeam = ({ projects, deployments }: Dashboard) => projects === 0 && deployments === 0

function Summary({ dashboard }: { dashboard: Dashboard }) {
  const { t } = useTranslation('dashboard')
  const { failedDeployments: failed } = dashboard
  const { inProgressDeployments: running } = dashboard.more
  const parts = [
    running > 0 && t('sub.progress', { count: running }),
    failed > 0 && t('sub.failed', { count: failed }),
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : t('sub.calm')
}
