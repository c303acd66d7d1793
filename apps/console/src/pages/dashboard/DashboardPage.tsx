import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe, useTeam } from '../../api/me.ts'
import { cx } from '../../components/class-names.ts'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../routing/links.ts'
import { FirstSteps } from './FirstSteps.tsx'
import { LatestDeployments } from './LatestDeployments.tsx'
import { UrgentDeployments } from './UrgentDeployments.tsx'

export function DashboardPage() {
  const { t } = useTranslation('dashboard')
  const team = useTeam()
  const me = useMe()
  const query = useQuery(apiQuery('dashboard.get', { params: { teamSlug: team.slug } }))
  return (
    <>
      <PageHeader title={t('title')} subtitle={query.data ? <Summary dashboard={query.data} /> : '\u00a0'} />
      <QueryView query={query} skeleton={<SkeletonRows rows={4} />}>
        {(dashboard) => (
          <div className="grid gap-4">
            <UrgentDeployments teamSlug={team.slug} dashboard={dashboard} />
            {me?.onboarding && !isComplete(dashboard) && (
              <FirstSteps teamSlug={team.slug} onboarding={dashboard.onboarding} />
            )}
            <Counters dashboard={dashboard} />
            <LatestDeployments teamSlug={team.slug} />
            {/* Collapsed by then, and not the user's next step. */}
            {me?.onboarding && isComplete(dashboard) && (
              <FirstSteps teamSlug={team.slug} onboarding={dashboard.onboarding} />
            )}
          </div>
        )}
      </QueryView>
    </>
  )
}

const isComplete = ({ onboarding }: ResponseOf<'dashboard.get'>) => Object.values(onboarding).every(({ done }) => done)

function Summary({ dashboard }: { dashboard: ResponseOf<'dashboard.get'> }) {
  const { t } = useTranslation('dashboard')
  const { failedDeployments: failed } = dashboard
  const { inProgressDeployments: running } = dashboard.more
  const parts = [
    running > 0 && t('sub.progress', { count: running }),
    failed > 0 && t('sub.failed', { count: failed }),
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : t('sub.calm')
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function Counters({ dashboard }: { dashboard: ResponseOf<'dashboard.get'> }) {
  const { t } = useTranslation('dashboard')
  const { slug, id } = useTeam()
  const counters = [
    { name: 'projects', value: dashboard.projects, link: links.projects(slug) },
    { name: 'versions', value: dashboard.versions, link: links.projects(slug) },
    { name: 'deployments', value: dashboard.deployments, link: links.deployments(slug) },
    {
      name: 'failedDeployments',
      value: dashboard.failedDeployments,
      link: links.deployments(slug, { status: 'failed' }),
      bad: dashboard.failedDeployments > 0,
    },
    { name: 'nodes', value: dashboard.more.nodes, link: links.nodes(slug) },
    { name: 'registries', value: dashboard.more.registries, link: links.registries(slug) },
    { name: 'users', value: dashboard.users, link: links.team(id) },
  ] as const
  return (
    <ul
      aria-label={t('counters.label')}
      className="flex flex-wrap overflow-hidden rounded-box border border-line bg-line gap-px"
    >
      {counters.map((counter) => (
        <li key={counter.name} className="min-w-32 flex-1 bg-surface">
          <Link {...counter.link} className="block px-3.5 py-2.5 hover:bg-hover focus-visible:-outline-offset-2">
            <span className="block text-small text-ink-2">{t(`counters.${counter.name}`)}</span>
            <span
              className={cx(
                'mt-0.5 block text-lead font-semibold tabular-nums',
                'bad' in counter && counter.bad && 'text-failed',
              )}
            >
              {compact.format(counter.value)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
