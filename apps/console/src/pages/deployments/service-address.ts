import type { Container } from '@crux/contract'

/** The address of a service; `open` is false for protocols that browsers do not support: a database, a queue. */
export type ServiceAddress = { url: string; label: string; open: boolean }

/** Ports inside a container that speak something else than HTTP: opening them would show an error of the browser. */
const otherProtocols = new Set([
  21, 22, 25, 53, 110, 143, 389, 465, 587, 636, 993, 995, 1433, 1521, 1883, 3306, 3389, 4222, 5432, 5672, 6379, 8883,
  9042, 9092, 11211, 27017, 50051,
])
const tlsPorts = new Set([443, 8443])

/**
 * The host under which the browser reaches a node's published ports: a node that the server knows by loopback runs on the server's own
 * machine, which this page came from.
 *
 * @param address as the server saw the agent's connection; null while it was never connected
 * @param pageHost `location.hostname`
 */
export function nodeHost(address: string | null | undefined, pageHost: string): string | null {
  if (!address) return null
  const bare = address.replace(/^::ffff:/i, '')
  if (bare === '::1' || bare === 'localhost' || bare.startsWith('127.')) return bracketed(pageHost)
  return bracketed(bare)
}

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** Every address of a container: its routed host names first, then each TCP port that the node publishes. */
export function serviceAddresses(
  container: Pick<Container, 'ports' | 'labels'>,
  host: string | null,
): ServiceAddress[] {
  return [
    ...routedAddresses(container.labels),
    ...clusterAddresses(container.labels),
    ...(host ? container.ports.flatMap((port) => publishedAddress(port, host)) : []),
  ]
}

export function publishedAddress(port: Container['ports'][number], host: string): ServiceAddress[] {
  const { internal, external, protocol } = port
  if (!external || (protocol && protocol !== 'tcp')) return []
  const open = !otherProtocols.has(internal)
  const tls = tlsPorts.has(external) || tlsPorts.has(internal)
  const standard = external === (tls ? 443 : 80)
  const authority = standard ? host : `${host}:${external}`
  return [
    { url: open ? `${tls ? 'https' : 'http'}://${authority}` : `${host}:${external}`, label: `:${external}`, open },
  ]
}

/** What the agent of a cluster says of an ingress. Anything but an address for browsers is left out: it becomes a link. */
function clusterAddresses(labels: Readonly<Record<string, string>>): ServiceAddress[] {
  const addresses = (labels['dev.crux.routes'] ?? '').split(' ').filter((address) => /^https?:\/\/[^/]/.test(address))
  return addresses.map((url) => ({ url, label: url.replace(/^https?:\/\//, ''), open: true }))
}

/** Routers that the agent's labels describe: `Host(...)` rules with their path, over TLS if the router enables it. */
function routedAddresses(labels: Readonly<Record<string, string>>): ServiceAddress[] {
  const found = new Map<string, ServiceAddress>()
  for (const [key, rule] of Object.entries(labels)) {
    const router = /^traefik\.http\.routers\.([^.]+)\.rule$/.exec(key)?.[1]
    if (!router || labels['traefik.enable'] === 'false') continue
    const property = (name: string) => labels[`traefik.http.routers.${router}.${name}`]
    const tls =
      property('tls') === 'true' ||
      property('tls.certresolver') !== undefined ||
      property('entrypoints') === 'websecure'
    const path = /PathPrefix\(`([^`]+)`\)/.exec(rule)?.[1] ?? ''
    for (const [, host = ''] of rule.matchAll(/Host\(`([^`]+)`\)/g)) {
      const label = `${host}${path === '/' ? '' : path}`
      if (!found.has(label) || tls) found.set(label, { url: `${tls ? 'https' : 'http'}://${label}`, label, open: true })
    }
  }
  return [...found.values()]
}
