import { type AsyncRouteComponent, lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadArea } from '../locales/i18n.ts'
import { loadChunk } from './load-chunk.ts'

/**
 * A page that is loaded when it is needed (or expected: links preload on hover), together with the texts of its areas:
 * `component: page(['teams'], () => import(path), 'TeamsPage')`.
 * Only the export's name is checked: its type would make the router's type depend on pages that depend on the router.
 */
export function page<M extends object>(
  areas: readonly string[],
  load: () => Promise<M>,
  name: keyof M & string,
): AsyncRouteComponent<object> {
  return lazyRouteComponent(async () => {
    const [module] = await Promise.all([loadChunk(load), ...areas.map((area) => loadChunk(() => loadArea(area)))])
    return { Page: module[name] as ComponentType<object> }
  }, 'Page')
}
