import type { Release } from '@crux/agent-protocol'
import { findOverlap, isSameRoute, normalizeHost, type Route, routeText } from '@crux/rules'
import { PlanError } from '../../../errors.ts'
import { getOwner, isOfRelease, isOwnedBy } from '../../labels.ts'
import type { ContainerSummary } from '../containers/container-engine.ts'

interface RoutedInstance {
  instanceId: string
  full: string
  routes: readonly Route[]
}

/**
 * A host name and path belong to one owner per engine: the one that routed them first keeps them, running or not. The message does not name
 * the owner. Within an owner a longer path may lie below a shorter one, but no two containers have the same route.
 *
 * @param changing instances that get a new container
 * @param staying instances of the release that keep theirs
 * @param leaving engine ids of the containers that the release replaces or removes
 * @throws PlanError
 */
export function refuseRouteClashes(
  { changing, staying }: { changing: readonly RoutedInstance[]; staying: readonly RoutedInstance[] },
  all: readonly ContainerSummary[],
  leaving: ReadonlySet<string>,
  release: Release,
): void {
  const { owner } = release
  for (const instance of changing) {
    const same = (routes: readonly Route[]) =>
      instance.routes.find((route) => routes.some((one) => isSameRoute(one, route)))
    for (const other of [...changing, ...staying]) {
      const route = other === instance ? undefined : same(other.routes)
      if (route)
        throw new PlanError(
          instance.instanceId,
          `${routeText(route)} is routed to ${other.full} of the same release too: choose another host name or path`,
        )
    }
    if (instance.routes.length === 0) continue
    for (const { id, name, labels } of all) {
      if (leaving.has(id) || isOfRelease(labels, release.key)) continue
      const isOwn = owner !== undefined && isOwnedBy(labels, owner)
      const routes = routesOfLabels(labels)
      const route = isOwn ? same(routes) : findOverlap(instance.routes, routes)
      if (!route) continue
      const usage = isOwn ? `is routed to ${name}` : 'is in use on this node'
      throw new PlanError(instance.instanceId, `${routeText(route)} ${usage}: choose another host name or path`)
    }
  }
}

/** Longer rules do not occur in practice, and any user of the engine may label a container. */
const ruleLengthMax = 4_096

/** Routes that a container has by its labels for Traefik, from a configuration or an image. */
export function routesOfLabels(labels: Record<string, string>): Route[] {
  if (labels['traefik.enable']?.toLowerCase() === 'false') return []
  return Object.entries(labels).flatMap(([key, value]) => {
    if (!/^traefik\.((http|tcp)\.routers\..+\.rule|(.+\.)?frontend\.rule)$/i.test(key)) return []
    // An image's own rule is emptied on the containers that agents create of it: it routes nothing.
    return value.trim() === '' ? [] : routesOfRule(value.slice(0, ruleLengthMax), getOwner(labels) !== undefined)
  })
}

const hostCall = /\bHost(?:SNI)?\s*\(([^)]*)\)/gi
const pathCall = /\bPath(?:Prefix)?\s*\(([^)]*)\)/gi

/**
 * Reads a rule cautiously: where it is more than hosts and one path after them, each of its hosts counts with all paths. A rule without a
 * host name counts only where an agent created it: those of others are for requests that no other rule matches.
 */
function routesOfRule(rule: string, isOurs: boolean): Route[] {
  const oldHosts = [...rule.matchAll(/\bHost:([^;]+)/gi)].flatMap(([, list = '']) => list.split(','))
  const hosts = [...parseArguments(rule, hostCall), ...oldHosts.map((host) => host.trim())]
    .filter((host) => host !== '' && host !== '*')
    .map(normalizeHost)
  const rest = rule.replace(/^\s*\(([^()]|\([^()]*\))*\)\s*&&/, '').replace(/^\s*Host\s*\([^)]*\)\s*&&/i, '')
  const isPlain = !/\|\||!|Regexp/i.test(rest)
  const found = parseArguments(rest, pathCall)
  const paths = isPlain && found.length > 0 ? found : ['/']
  if (hosts.length > 0) return hosts.flatMap((host) => paths.map((path) => ({ host, path })))
  return isOurs ? paths.map((path) => ({ host: null, path })) : []
}

function parseArguments(rule: string, call: RegExp): string[] {
  return [...rule.matchAll(call)].flatMap(([, list = '']) =>
    list.split(',').map((argument) => argument.trim().replace(/^[`'"]|[`'"]$/g, '')),
  )
}
