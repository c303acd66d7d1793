import type { FinalContainerConfig } from '@crux/contract'
import { getRoutes, normalizeHost, type Route, routesOverlap } from '@crux/rules'

/**
 * Returns what a proxy on the node would route to a container.
 *
 * @throws Error with a sentence for users for a route that would take a host name of Crux, or every host name
 */
export function desiredRoutes(
  config: FinalContainerConfig,
  options: {
    prefix: string
    rootDomain: string | undefined
    serverUrl: string | undefined
    hostDangerousAllowed: boolean
  },
): Route[] {
  const { prefix, rootDomain, serverUrl, hostDangerousAllowed } = options
  const routes = getRoutes(config, rootDomain ? `${config.name}.${prefix}.${rootDomain}` : undefined)
  if (routes.some(({ host }) => host === null) && !hostDangerousAllowed)
    throw new Error(
      "a route without a host name answers for every host name of the node, which needs an admin's permission: give it a domain",
    )
  const crux: Route | undefined = serverUrl
    ? { host: normalizeHost(new URL(serverUrl).hostname), path: '/' }
    : undefined
  const taken = crux && routes.find((route) => route.host !== null && routesOverlap({ ...route, path: '/' }, crux))
  if (taken) throw new Error(`${taken.host} is the host name of Crux itself: choose another one`)
  return routes
}
