import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import type { Report } from './config-problem.ts'

/** Requests that a proxy sends to one container: all below a path, of one host name or of every host name. */
export type Route = { host: string | null; path: string }

/** The host names in the routing of a configuration, as they are written. */
export const listedHosts = (domain: string | null | undefined): string[] =>
  (domain ?? '')
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')

/** Labels of at most 63 characters (RFC 1123); the first may be a `*`. */
export function isRoutedHost(host: string): boolean {
  const name = host.startsWith('*.') ? host.slice(2) : host
  return host.length <= 253 && name.split('.').every((label) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i.test(label))
}

export const isExposed = ({ expose }: Pick<ContainerConfigFields, 'expose'>): boolean =>
  expose !== undefined && expose !== null && expose !== 'none'

/**
 * The routes of a configuration.
 *
 * @param defaultHost the host that an agent derives from a missing domain; undefined if it is not known
 */
export function getRoutes(
  config: Pick<ContainerConfigFields, 'expose' | 'routing'>,
  defaultHost: string | undefined,
): Route[] {
  if (!isExposed(config)) return []
  const listed = listedHosts(config.routing?.domain)
  const hosts = listed.length > 0 || defaultHost === undefined ? listed : [defaultHost]
  const path = config.routing?.path || '/'
  return hosts.length > 0 ? hosts.map((host) => ({ host: normalizeHost(host), path })) : [{ host: null, path }]
}

/** A host name in the form that proxies compare: lower case, punycode, without a port and without a trailing dot. */
export function normalizeHost(host: string): string {
  const [, wildcard = '', rest = ''] = /^(\*\.)?(.*)$/s.exec(host.trim()) ?? []
  const bare = rest.replace(/:\d*$/, '').replace(/\.+$/, '')
  // A host that is invalid in an address is compared in lower case.
  const name = URL.parse(`http://${bare}/`)?.hostname || bare.toLowerCase()
  return `${wildcard}${name.replace(/\.+$/, '')}`
}

/**
 * Whether any request matches both. Paths are prefixes, as a proxy compares them: `/a` matches `/a/b` and `/ab`. A wildcard covers every name below
 * its own, and a route without a host name covers all of them.
 */
export function routesOverlap(left: Route, right: Route): boolean {
  return hostsOverlap(left.host, right.host) && pathsOverlap(left.path, right.path)
}

export const isSameRoute = (left: Route, right: Route): boolean =>
  left.host === right.host && normalizePath(left.path) === normalizePath(right.path)

/** The first pair of overlapping routes, returned as the route of the left side. */
export const findOverlap = (left: readonly Route[], right: readonly Route[]): Route | undefined =>
  left.find((one) => right.some((other) => routesOverlap(one, other)))

export const routeText = ({ host, path }: Route): string => `${host ?? 'every host name'}${normalizePath(path)}`

/** Instances of one release must not have overlapping routes, because the proxy would select the instance arbitrarily. */
export function reportRepeatedRoutes(instances: readonly { config: FinalContainerConfig }[], report: Report): void {
  const known: { route: Route; name: string; index: number }[] = []
  for (const [index, { config }] of instances.entries())
    for (const route of getRoutes(config, undefined)) {
      // The default host contains the name of the container, or the agent refuses it.
      if (route.host === null) continue
      const other = known.find((candidate) => candidate.index !== index && isSameRoute(candidate.route, route))
      known.push({ route, name: config.name, index })
      if (!other) continue
      const description = `${routeText(route)} is routed to ${other.name} too: choose another host name or path`
      report(`instances[${index}].config.routing.domain`, 'routesAreUnique', description)
    }
}

function hostsOverlap(left: string | null, right: string | null): boolean {
  return left === null || right === null || left === right || covers(left, right) || covers(right, left)
}

function covers(wildcard: string, host: string): boolean {
  if (!wildcard.startsWith('*.')) return wildcard === '*'
  const suffix = wildcard.slice(1)
  return host.endsWith(suffix) || (host.startsWith('*.') && host.slice(1).endsWith(suffix))
}

function pathsOverlap(left: string, right: string): boolean {
  const [one, other] = [normalizePath(left), normalizePath(right)]
  return one.startsWith(other) || other.startsWith(one)
}

function normalizePath(path: string): string {
  return `/${path.replace(/^\/+/, '')}`
}
