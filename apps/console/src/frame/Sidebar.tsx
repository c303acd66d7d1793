import { Link } from '@tanstack/react-router'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { Tooltip } from '../components/Tooltip.tsx'
import { useCrumbs } from '../stores/crumbs.ts'
import { toggleSidebar, useSidebarCollapsed } from '../stores/sidebar.ts'
import { Brand } from './Brand.tsx'
import { type NavigationEntry, navigation } from './navigation.ts'
import { useTeamCounts } from './use-team-counts.ts'

/** The left sidebar inside a team: icons and words, or icons alone when it is collapsed. */
export function Sidebar({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation()
  const collapsed = useSidebarCollapsed()
  return (
    <aside
      aria-label={t('nav.sidebar')}
      className={cx(
        'sticky top-0 flex h-dvh flex-col border-r border-line px-2 pb-3 max-md:hidden',
        collapsed ? 'w-[49px]' : 'w-[212px]',
      )}
    >
      <div className="flex h-12 shrink-0 items-center px-[7px]">
        <Brand markOnly={collapsed} />
      </div>
      <NavigationList teamSlug={teamSlug} collapsed={collapsed} />
      <button
        type="button"
        onClick={toggleSidebar}
        aria-expanded={!collapsed}
        aria-label={collapsed ? t('nav.expand') : undefined}
        className="mt-auto flex h-[30px] shrink-0 items-center gap-[9px] rounded-md px-2 text-ink-2 hover:bg-hover"
      >
        {collapsed ? <PanelLeftOpen aria-hidden /> : <PanelLeftClose aria-hidden />}
        {!collapsed && t('nav.collapse')}
      </button>
    </aside>
  )
}

type NavigationListProps = { teamSlug: string; collapsed?: boolean; onGo?: () => void }

/** The entries; on a phone they are in a sheet and `onGo` closes it. */
export function NavigationList({ teamSlug, collapsed = false, onGo }: NavigationListProps) {
  const { t } = useTranslation()
  const counts = useTeamCounts(teamSlug)
  const countMatches: Record<string, number | undefined> = {
    projects: counts?.projects,
    nodes: counts?.more.nodes,
    registries: counts?.more.registries,
  }
  const failed = counts?.failedDeployments ?? 0
  return (
    <nav aria-label={t('nav.label')} className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden">
      {navigation.map(({ group, entries }) => (
        <Fragment key={group ?? 'top'}>
          {group &&
            (collapsed ? (
              <hr className="mx-1 my-2 border-line" />
            ) : (
              <p aria-hidden className="px-2 pt-3.5 pb-1 text-small text-ink-3">
                {t(`nav.${group}`)}
              </p>
            ))}
          <ul aria-label={group ? t(`nav.${group}`) : undefined} className="grid gap-0.5">
            {entries.map((entry) => (
              <li key={entry.id}>
                <Entry entry={entry} teamSlug={teamSlug} collapsed={collapsed} onGo={onGo}>
                  {entry.id === 'deployments' && failed > 0 ? (
                    <span className="font-semibold text-failed" title={t('nav.failed', { count: failed })}>
                      <span aria-hidden>{failed}</span>
                      <span className="sr-only">{t('nav.failed', { count: failed })}</span>
                    </span>
                  ) : (
                    countMatches[entry.id]
                  )}
                </Entry>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
    </nav>
  )
}

type EntryProps = {
  entry: NavigationEntry
  teamSlug: string
  collapsed: boolean
  onGo?: () => void
  children: ReactNode
}

function Entry({ entry, teamSlug, collapsed, onGo, children }: EntryProps) {
  const { t } = useTranslation()
  const Icon = entry.icon
  // Configuration pages have addresses of their own, so the first crumb decides which entry is highlighted.
  const [first] = useCrumbs()
  const isBelow = first?.link?.to !== undefined && first.link.to === entry.link(teamSlug).to
  const word = t(`nav.${entry.id}`)
  return (
    <Tooltip content={collapsed ? word : undefined} side="right">
      <Link
        {...entry.link(teamSlug)}
        onClick={onGo}
        activeOptions={{ includeSearch: false, includeHash: false }}
        aria-label={collapsed ? word : undefined}
        aria-current={isBelow ? 'page' : undefined}
        className="group flex h-[30px] items-center gap-[9px] rounded-md px-2 text-ink-2 hover:bg-hover aria-[current=page]:bg-accent-soft aria-[current=page]:font-strong aria-[current=page]:text-ink max-md:h-9"
      >
        <Icon aria-hidden className="group-aria-[current=page]:text-accent" />
        {!collapsed && (
          <>
            <span className="truncate">{word}</span>
            <span className="ml-auto text-small font-normal empty:hidden text-ink-3 tabular-nums">{children}</span>
          </>
        )}
      </Link>
    </Tooltip>
  )
}
