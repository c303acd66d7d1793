import type { ResponseOf } from '@crux/contract'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useTeam } from '../../api/me.ts'
import { cx } from '../../components/class-names.ts'
import { links } from '../../routing/links.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** The totals of the team, each with a link to its list. */
export function Counters({ dashboard }: { dashboard: ResponseOf<'dashboard.get'> }) {
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
    { name: 'auditLog', value: dashboard.auditLog, link: links.auditLog(slug) },
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
