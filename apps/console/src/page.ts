import { type AsyncRouteComponent, lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadArea } from './i18n.ts'

/**
 * A page that is loaded when it is needed (or expected: links preload on hover), together with the texts of its areas:
 * `component: page(['teams'], () => import('./pages/teams/TeamsPage.tsx'), 'TeamsPage')`.
 * Only the export's name is checked: its type would make the router's type depend on pages that depend on the router.
 */
export function page<M extends object>(
  areas: readonly string[],
  load: () => Promise<M>,
  name: keyof M & string,
): AsyncRouteComponent<object> {
  return lazyRouteComponent(async () => {
    const [module] = await Promise.all([twice(load), ...areas.map((area) => twice(() => loadArea(area)))])
    return { Page: module[name] as ComponentType<object> }
  }, 'Page')
}

/** A network that changes under the browser aborts what it was loading; a second try a moment later finds it. */
async function twice<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    await new Promise((resume) => setTimeout(resume, 400))
    return load()
  }
}
