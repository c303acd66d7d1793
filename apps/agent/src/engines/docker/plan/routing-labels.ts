import type { FinalContainerConfig } from '@crux/contract'
import { bytesOfUploadLimit, isRoutedHost, listedHosts } from '@crux/rules'

/**
 * Labels by which Traefik routes to an exposed container. The domain may contain several hosts, separated by commas; the upload limit is a
 * middleware of the container's own and is attached.
 *
 * @throws Error with a sentence for users when the routing cannot be expressed
 */
export function routingLabels(
  config: FinalContainerConfig,
  names: { full: string; prefix: string; network: string; rootDomain: string | undefined },
): Record<string, string> {
  if (!config.expose || config.expose === 'none') return {}
  const { full } = names
  const router = `traefik.http.routers.${full}`
  const rule = getRule(config, names)
  const labels: Record<string, string> = {
    'traefik.enable': 'true',
    'traefik.docker.network': names.network,
    [`${router}.rule`]: rule,
    [`${router}.entrypoints`]: 'web',
  }
  const middlewares: string[] = []
  const path = config.routing?.path
  if (config.routing?.stripPath && path) {
    labels[`traefik.http.middlewares.${full}-stripper.stripprefix.prefixes`] = path
    middlewares.push(`${full}-stripper`)
  }
  const limit = config.routing?.uploadLimit
  if (limit) {
    labels[`traefik.http.middlewares.${full}-limit.buffering.maxRequestBodyBytes`] = String(toLimit(limit))
    middlewares.push(`${full}-limit`)
  }
  const port = config.routing?.port
  if (port) {
    const isOwn =
      config.ports.some(({ internal }) => internal === port) ||
      config.portRanges.some(({ internal }) => internal.from <= port && port <= internal.to)
    if (!isOwn) throw new Error(`the routing port ${port} is none of the container's ports`)
    labels[`traefik.http.services.${full}.loadbalancer.server.port`] = String(port)
  }
  if (middlewares.length > 0) labels[`${router}.middlewares`] = middlewares.join(',')
  if (config.expose === 'exposeWithTls') {
    labels[`${router}-secure.rule`] = rule
    labels[`${router}-secure.entrypoints`] = 'websecure'
    labels[`${router}-secure.tls`] = 'true'
    labels[`${router}-secure.tls.certresolver`] = 'le'
    if (middlewares.length > 0) labels[`${router}-secure.middlewares`] = middlewares.join(',')
  }
  return labels
}

function getRule(config: FinalContainerConfig, names: { prefix: string; rootDomain: string | undefined }): string {
  const given = listedHosts(config.routing?.domain)
  const hosts = given.length > 0 || !names.rootDomain ? given : [`${config.name}.${names.prefix}.${names.rootDomain}`]
  for (const host of hosts) if (!isRoutedHost(host)) throw new Error(`"${host}" is not a host name`)
  const path = config.routing?.path
  // Some versions of the proxy read braces as a pattern, which would match more than the literal text.
  if (path && /[`\s{}]/.test(path)) throw new Error('the routing path has a character that no path has')
  const parts: string[] = []
  if (hosts.length > 0) {
    const anyHost = hosts.map((host) => `Host(\`${host}\`)`).join(' || ')
    parts.push(hosts.length > 1 && path ? `(${anyHost})` : anyHost)
  }
  if (path) parts.push(`PathPrefix(\`${path}\`)`)
  if (parts.length === 0) throw new Error('an exposed container needs a domain or a path')
  return parts.join(' && ')
}

function toLimit(text: string): number {
  const bytes = bytesOfUploadLimit(text)
  if (!bytes) throw new Error(`"${text}" is not a size such as 10MB`)
  return bytes
}
