import type { Release } from '@crux/agent-protocol'
import { bytesOfUploadLimit, isExposed, isPathStripped, isRoutedHost, type Route } from '@crux/rules'
import { desiredRoutes } from '../../desired-routes.ts'
import type { Manifest } from '../cluster/cluster.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { findServicePort } from './ports.ts'
import { annotated, toUserAnnotations, toUserLabels } from './user-rows.ts'
import { ownLabels } from './workload.ts'

const nginx = 'nginx.ingress.kubernetes.io'

/** Headers of a proxy in front, which a script of another site may send along. */
const forwardedHeaders = ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Server', 'X-Real-IP', 'X-Requested-With']

/** The routes of an exposed container. @throws Error with a sentence for users when they cannot be expressed */
export function toIngress(release: Release, desired: DesiredWorkload): Manifest | undefined {
  const { config, name, namespace, settings } = desired
  const { ingress } = settings
  if (!isExposed(config) || !ingress) return undefined
  const port = findServicePort(config, config.routing?.port, 'routing.port')
  const routes = getAllowedRoutes(release, desired)
  const hosts = routes.flatMap(({ host }) => (host === null ? [] : [host]))
  const isStripped = isPathStripped(config.routing)
  const backend = { service: { name, port: { name: port.name } } }
  const paths = [{ ...toPath(config.routing?.path || '/', isStripped), backend }]
  const tls = toTls(desired, hosts)
  const annotations = {
    ...toOptions(desired, isStripped),
    ...toUserAnnotations(config, 'ingress'),
    ...(tls && ingress.clusterIssuer && { 'cert-manager.io/cluster-issuer': ingress.clusterIssuer }),
  }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
      namespace,
      labels: { ...toUserLabels(config, 'ingress'), ...ownLabels(release, desired) },
      ...annotated(annotations),
    },
    spec: {
      ingressClassName: ingress.className,
      ...(tls && { tls }),
      rules: routes.map(({ host }) => ({ ...(host !== null && { host }), http: { paths } })),
    },
  }
}

/** The addresses under which browsers reach an exposed container; a route of every host name has none. */
export function listAddresses(release: Release, desired: DesiredWorkload): string[] {
  const { config, settings } = desired
  if (!isExposed(config) || !settings.ingress) return []
  const scheme = config.expose === 'exposeWithTls' ? 'https' : 'http'
  const path = config.routing?.path || '/'
  return getAllowedRoutes(release, desired).flatMap(({ host }) =>
    host === null ? [] : [`${scheme}://${host}${path === '/' ? '' : path}`],
  )
}

/** The same rules as on Docker: no route of every host name without an admin, and none of Crux itself. */
function getAllowedRoutes(
  { hostDangerousAllowed }: Release,
  { config, namespace, settings: { ingress } }: DesiredWorkload,
): Route[] {
  const routes = desiredRoutes(config, {
    prefix: namespace,
    rootDomain: ingress?.rootDomain,
    serverUrl: ingress?.serverUrl,
    hostDangerousAllowed,
  })
  for (const { host } of routes)
    if (host !== null && !isRoutedHost(host)) throw new Error(`routing.domain: "${host}" is not a host name`)
  return routes
}

/** A path is part of the controller's configuration: it has only characters that mean nothing there. */
const plainPath = /^\/[A-Za-z0-9._~%/-]*$/

function toPath(path: string, isStripped: boolean): { path: string; pathType: string } {
  if (!plainPath.test(path))
    throw new Error(`routing.path: "${path}" has a character that a path cannot have on a cluster`)
  if (!isStripped) return { path, pathType: 'Prefix' }
  const pattern = path.replace(/\/+$/, '').replaceAll('.', '\\.')
  return { path: `${pattern}(/|$)(.*)`, pathType: 'ImplementationSpecific' }
}

function toTls(
  { config, name, settings }: DesiredWorkload,
  hosts: readonly string[],
): [{ hosts: readonly string[]; secretName?: string }] | undefined {
  if (config.expose !== 'exposeWithTls') return undefined
  if (hosts.length === 0) throw new Error('routing.domain: a certificate needs a domain')
  return [{ hosts, ...(settings.ingress?.clusterIssuer && { secretName: `${name}-tls` }) }]
}

/** Annotations of the nginx controller: no configuration for another one has these options (`kubernetesUnavailable`). */
function toOptions({ config }: DesiredWorkload, isStripped: boolean): Record<string, string> {
  const { customHeaders, proxyHeaders, routing } = config
  const headers = (customHeaders ?? []).map(({ key }) => key)
  const invalid = headers.find((header) => !/^[A-Za-z0-9-]+$/.test(header))
  if (invalid) throw new Error(`customHeaders: "${invalid}" is not the name of a header`)
  const limit = routing?.uploadLimit
  return {
    ...(isStripped && { [`${nginx}/use-regex`]: 'true', [`${nginx}/rewrite-target`]: '/$2' }),
    ...(limit && { [`${nginx}/proxy-body-size`]: toLimit(limit) }),
    ...(proxyHeaders && { [`${nginx}/proxy-buffering`]: 'on', [`${nginx}/proxy-buffer-size`]: '256k' }),
    ...toCors(headers, proxyHeaders === true),
  }
}

function toCors(headers: readonly string[], proxyHeaders: boolean): Record<string, string> {
  const allowed = [...headers, ...(proxyHeaders ? forwardedHeaders : [])]
  if (allowed.length === 0) return {}
  return { [`${nginx}/enable-cors`]: 'true', [`${nginx}/cors-allow-headers`]: [...new Set(allowed)].join(', ') }
}

function toLimit(text: string): string {
  const bytes = bytesOfUploadLimit(text)
  if (!bytes) throw new Error(`routing.uploadLimit: "${text}" is not a size such as 10MB`)
  return String(bytes)
}
