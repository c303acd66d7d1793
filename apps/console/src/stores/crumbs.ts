import type { LinkProps } from '@tanstack/react-router'
import { useLayoutEffect, useSyncExternalStore } from 'react'
import { createStore } from './create-store.ts'

/** A step of the breadcrumb after the team; the last one is the page itself and needs no link. */
export type Crumb = { label: string; link?: LinkProps }

const store = createStore<readonly Crumb[]>([])

export const useCrumbs = (): readonly Crumb[] => useSyncExternalStore(store.subscribe, store.get)

/** Called by PageHeader: the page sets its breadcrumb, and the top bar shows it. */
export function useSetCrumbs(crumbs: readonly Crumb[]): void {
  const key = crumbs.map((crumb) => crumb.label).join('\n')
  // Labels decide; link objects are new in every render
  useLayoutEffect(() => store.set(crumbs), [key])
  // The next page sets its own crumbs. Until it has loaded, those of the previous page would be wrong.
  useLayoutEffect(() => () => store.set([]), [])
}
