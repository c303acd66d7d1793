import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useTeamOrNone } from '../api/me.ts'
import { focusPageIfLost } from '../components/focus-trail.ts'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { loadArea } from '../locales/i18n.ts'
import { NodesFollower } from './NodesFollower.tsx'
import { OfflineBanner } from './OfflineBanner.tsx'
import { loadQuickActions } from './quick-actions.ts'
import { Sidebar } from './Sidebar.tsx'
import { TopBar } from './TopBar.tsx'
import { useShortcuts } from './use-shortcuts.ts'

// Loaded when they are first opened.
const Palette = lazyComponent(async () => {
  const [{ Palette }, sources] = await Promise.all([
    import('./Palette.tsx'),
    loadQuickActions(),
    loadArea('palette'),
    loadArea('account'),
  ])
  return (props: { onClose: () => void }) => <Palette sources={sources} {...props} />
})
const ShortcutsDialog = lazyComponent(async () => (await import('./ShortcutsDialog.tsx')).ShortcutsDialog)
const NavigationSheet = lazyComponent(async () => (await import('./NavigationSheet.tsx')).NavigationSheet)

type Layer = 'palette' | 'shortcuts' | 'menu' | null

/** Sidebar, top bar, and the page between them. Below 768 px the sidebar is a sheet. */
export function AppFrame() {
  const { t } = useTranslation()
  const team = useTeamOrNone()
  const [layer, setLayer] = useState<Layer>(null)
  const close = () => setLayer(null)
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(shown)
  useEffect(() => {
    if (before.current !== undefined && before.current !== shown) focusPageIfLost()
    before.current = shown
  }, [shown])
  useShortcuts({ teamSlug: team?.slug, onPalette: () => setLayer('palette'), onHelp: () => setLayer('shortcuts') })
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
      >
        {t('nav.skip')}
      </a>
      {team && <Sidebar teamSlug={team.slug} />}
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar
          onSearch={() => setLayer('palette')}
          onMenu={team && (() => setLayer('menu'))}
          onShortcuts={() => setLayer('shortcuts')}
        />
        <OfflineBanner />
        <main
          id="content"
          tabIndex={-1}
          className="w-full max-w-[1440px] min-w-0 flex-1 px-5 pt-5 pb-10 outline-none max-md:px-3 max-md:pt-3.5 max-md:pb-8"
        >
          <Outlet />
        </main>
      </div>
      {team && <NodesFollower key={team.slug} teamSlug={team.slug} />}
      {team && layer === 'menu' && <NavigationSheet team={team} onClose={close} />}
      {layer === 'palette' && <Palette onClose={close} />}
      {layer === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </div>
  )
}
