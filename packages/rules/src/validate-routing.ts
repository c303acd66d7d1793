import type { ContainerConfigFields } from '@crux/contract'
import type { Report } from './config-problem.ts'
import { bytesOfUploadLimit } from './quantity.ts'
import { isRoutedHost, listedHosts } from './routes.ts'
import { isOwnPort } from './validate-ports.ts'

/** Checks the settings that refer to a port of the container: the route of the proxy, health checks, metrics. */
export function checkRouting(
  config: ContainerConfigFields,
  { whole, below }: { whole: boolean; below?: ContainerConfigFields | 'unknown' | undefined },
  report: Report,
): void {
  const hasPorts = (config.ports ?? []).length + (config.portRanges ?? []).length > 0
  // A layer without ports gets them from another one.
  const judged = whole || (hasPorts && below !== 'unknown')
  const known = below && below !== 'unknown' ? [config, below] : [config]
  const isForeign = (port: number | null | undefined) =>
    typeof port === 'number' && judged && !known.some((fields) => isOwnPort(fields, port))
  checkRoute(config.routing, isForeign, report)
  checkHealth(config, whole, report)
  const { metrics } = config
  if (!metrics?.enabled) return
  if (metrics.port ? isForeign(metrics.port) : whole && hasPorts)
    report('metrics.port', 'metric-port', "Choose one of the container's ports")
  if (metrics.path && !(metrics.path.startsWith('/') && isRequestPath(metrics.path)))
    report('metrics.path', 'matches', `A path starts with / and has no white space: write it ${asciiOnly}`)
}

function checkRoute(
  routing: ContainerConfigFields['routing'],
  isForeign: (port: number | null | undefined) => boolean,
  report: Report,
): void {
  const { port, uploadLimit, domain, path } = routing ?? {}
  if (isForeign(port))
    report('routing.port', 'oneOf', `Port ${port} is none of the container's ports: add it or choose another`)
  if (uploadLimit && !bytesOfUploadLimit(uploadLimit))
    report('routing.uploadLimit', 'matches', 'Write a number of bytes or a size such as 10mb')
  const host = listedHosts(domain).find((listed) => !isRoutedHost(listed))
  if (host !== undefined) report('routing.domain', 'matches', `${host} is no host name: separate several with commas`)
  // The path becomes part of a proxy rule between backquotes, and some proxy versions interpret braces as a pattern.
  if (path && (/[`{}]/.test(path) || !isRequestPath(path)))
    report('routing.path', 'matches', `A path has no white space, backquotes or braces: write it ${asciiOnly}`)
}

/** A path that HTTP clients send unchanged: they refuse or change any other character of a request line. */
function isRequestPath(path: string): boolean {
  return /^[\x21-\x7e]*$/.test(path)
}

const asciiOnly = 'with characters beyond ASCII percent-encoded'

function checkHealth(config: ContainerConfigFields, whole: boolean, report: Report): void {
  const health = config.healthCheckConfig
  const probes = (['startupProbe', 'readinessProbe', 'livenessProbe'] as const).filter((name) => health?.[name])
  for (const name of probes) {
    const path = health?.[name] ?? ''
    if (!isRequestPath(path) || path.includes('#'))
      report(`healthCheckConfig.${name}`, 'matches', `Write the path of an address such as /healthz, ${asciiOnly}`)
  }
  const port = health?.port ?? config.routing?.port ?? config.ports?.[0]?.internal
  if (whole && probes.length > 0 && !port)
    report('healthCheckConfig.port', 'required', 'Say which port answers the probe')
}
