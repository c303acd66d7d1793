import { CruxError, type ErrorDetail } from '@crux/contract'
import { getRoutes, isExposed, normalizeHost, type Route, routesOverlap, routeText } from '@crux/rules'
import type { Queries } from '../db/queries.ts'
import type { LoadedDeployment } from './deployment-store.ts'
import { listNeighbours } from './neighbour-store.ts'
import type { Planned } from './start-request.ts'

/**
 * A host name and path belong to one owner per engine, and the host name of Crux may not be routed. The agent refuses
 * conflicts that the records do not show, such as those with containers of other teams on the same engine and with host
 * names that an agent derives from its root domain.
 */
export async function checkRoutes(
  queries: Queries,
  deployment: LoadedDeployment,
  instances: readonly Planned[],
  cruxUrl: string,
): Promise<CruxError | undefined> {
  const routed = instances.flatMap(({ config }, index) =>
    listedRoutes(config).map((route) => ({
      route,
      name: config.name,
      property: `instances[${index}].config.routing.domain`,
    })),
  )
  if (routed.length === 0) return undefined
  const crux: Route = { host: normalizeHost(new URL(cruxUrl).hostname), path: '/' }
  const neighbours = (await listNeighbours(queries, deployment)).map(({ name, config }) => ({
    name,
    routes: listedRoutes(config),
  }))
  const details = routed.flatMap(({ route, name, property }): ErrorDetail[] => {
    const refuse = (reason: string) => [{ property, error: 'routeInUse', description: `${name}: ${reason}` }]
    if (routesOverlap({ ...route, path: '/' }, crux))
      return refuse(`${route.host} is the host name of Crux itself: choose another one`)
    const holder = neighbours.find(({ routes }) => routes.some((other) => routesOverlap(other, route)))
    if (!holder) return []
    return refuse(`${routeText(route)} is in use on this node by ${holder.name}: choose another host name or path`)
  })
  const [first] = details
  if (!first) return undefined
  return new CruxError('preconditionFailed', {
    property: first.property,
    description: `${first.description}.`,
    details,
  })
}

/** Without a listed host the agent chooses the host name. */
const listedRoutes = (config: Parameters<typeof getRoutes>[0]): Route[] =>
  isExposed(config) ? getRoutes(config, undefined).filter(({ host }) => host !== null) : []
