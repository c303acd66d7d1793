import { Link } from '@tanstack/react-router'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'
import { usePresence } from '../api/editors.ts'
import { useLinkStatus } from '../api/live.ts'
import { useTeamOrNone } from '../api/me.ts'
import { Avatar } from '../components/Avatar.tsx'
import { IconButton } from '../components/Button.tsx'
import { cx } from '../components/class-names.ts'
import { Kbd } from '../components/Kbd.tsx'
import { Tooltip } from '../components/Tooltip.tsx'
import { links } from '../routing/links.ts'
import { useCrumbs } from '../stores/crumbs.ts'
import { UserMenu } from './UserMenu.tsx'

type Props = { onSearch: () => void; onMenu?: () => void; onShortcuts: () => void }

export function TopBar({ onSearch, onMenu, onShortcuts }: Props) {
  const { t } = useTranslation()
  return (
    <header className="sticky top-0 z-30 flex h-12 items-center gap-3 border-b border-line bg-canvas px-5 max-md:gap-2 max-md:px-3">
      {onMenu && <IconButton icon={MenuIcon} label={t('nav.open')} className="wide:hidden" onClick={onMenu} />}
      <Breadcrumb />
      <EditorBadges />
      <button
        type="button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={onSearch}
        className="ml-auto flex h-[30px] shrink-0 items-center gap-2 rounded-md border border-line bg-surface px-2 text-ink-3 hover:border-line-strong wide:w-[250px]"
      >
        <Search aria-hidden />
        <span className="max-md:sr-only">{t('top.find')}</span>
        <span className="ml-auto max-md:hidden">
          <Kbd>{/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'}</Kbd>
        </span>
      </button>
      <LiveDot />
      <UserMenu onShortcuts={onShortcuts} />
    </header>
  )
}

function Breadcrumb() {
  const { t } = useTranslation()
  const team = useTeamOrNone()
  const crumbs = useCrumbs()
  const last = crumbs.at(-1)
  return (
    <nav aria-label={t('top.crumbs')} className="flex min-w-0 items-center gap-1.5 text-ink-3">
      {team && (
        <span className="flex shrink-0 items-center gap-1.5 max-md:hidden">
          <Link {...links.teamHome(team.slug)} className="max-w-40 truncate rounded-sm hover:text-ink">
            {team.name}
          </Link>
          {last && <span aria-hidden>/</span>}
        </span>
      )}
      {crumbs.slice(0, -1).map((crumb, place) => (
        <Fragment key={place}>
          <Link {...crumb.link} className="max-w-48 shrink-[.2] truncate rounded-sm hover:text-ink max-md:hidden">
            {crumb.label}
          </Link>
          <span aria-hidden className="max-md:hidden">
            /
          </span>
        </Fragment>
      ))}
      {last && (
        <span aria-current="page" className="truncate font-strong text-ink">
          {last.label}
        </span>
      )}
    </nav>
  )
}

/** The users on this page; the badge of the current user comes first. */
function EditorBadges() {
  const { t } = useTranslation()
  const { meId, editors } = usePresence()
  // A single user needs no badge.
  if (editors.every(({ id }) => id === meId)) return null
  const sorted = [...editors].sort((a, b) => Number(b.id === meId) - Number(a.id === meId))
  const names = sorted.map((editor) => editor.name).join(', ')
  return (
    <Tooltip content={names} side="bottom">
      <span role="img" aria-label={t('top.editors', { names })} className="flex shrink-0">
        {sorted.slice(0, 5).map((editor, place) => (
          <span key={editor.id} className={cx(place > 0 && '-ml-[7px]')}>
            <Avatar name={editor.name} color={editor.id === meId ? undefined : editor.color} />
          </span>
        ))}
      </span>
    </Tooltip>
  )
}

function LiveDot() {
  const { t } = useTranslation()
  const status = useLinkStatus()
  // Nothing on this page is live, so it shows no connection status.
  if (status === 'closed') return null
  const state = status === 'open' ? 'live' : status === 'lost' || status === 'kicked' ? 'offline' : 'connecting'
  const dots = { live: 'bg-running', connecting: 'bg-progress', offline: 'bg-failed' }
  return (
    <Tooltip content={t(`top.${state}Help`)} side="bottom">
      <span role="status" data-live={state} className="flex shrink-0 items-center gap-2 text-small text-ink-2">
        <span aria-hidden className={cx('size-[7px] shrink-0 rounded-full', dots[state])} />
        <span className="max-md:sr-only">{t(`top.${state}`)}</span>
      </span>
    </Tooltip>
  )
}
