import { type Body, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { isRegistryOf } from './store.ts'

/** The number of repositories in one event of the bus, whose names must fit into one notification. */
const perEvent = 20
/** The user agent of our own requests, when a registry reports them. */
const ownAgent = /^crux(\/|$)/

/**
 * Handles the events of a registry. The guard has checked its token. A repeated event does no harm, because it only
 * causes tags to be requested again.
 *
 * @throws CruxError notFound `registryId` where the path names another team
 */
export async function hearRegistry(
  app: App,
  params: { teamSlug: string; registryId: string },
  { events }: Body<'registries.hook'>,
): Promise<void> {
  const { registryId, teamSlug } = params
  if (!(await isRegistryOf(app.database.pool, teamSlug, registryId)))
    throw new CruxError('notFound', { property: 'registryId', value: registryId })
  const pushed = events.filter(({ action, request }) => action !== 'pull' && !ownAgent.test(request?.useragent ?? ''))
  const repositories = [...new Set(pushed.map(({ target }) => target.repository))]
  for (let from = 0; from < repositories.length; from += perEvent)
    app.bus.publish({ type: 'registry.pushed', registryId, repositories: repositories.slice(from, from + perEvent) })
}
