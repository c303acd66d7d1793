import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { bytesOfUploadLimit } from './quantity.ts'
import { isRoutedHost, listedHosts } from './routes.ts'
import { isOwnPort } from './validate-ports.ts'

/** Checks the settings that refer to a port of the container: the route of the proxy, health checks, metrics. */
export function routingProblems(
  config: ContainerConfigFields,
  { whole, below }: { whole?: boolean | undefined; below?: ContainerConfigFields | 'unknown' | undefined },
): ConfigProblem[] {
  const hasPorts = (config.ports ?? []).length + (config.portRanges ?? []).length > 0
  // A layer without ports gets them from another one.
  const judged = whole || (hasPorts && below !== 'unknown')
  const known = below && below !== 'unknown' ? [config, below] : [config]
  const foreign = (port: number | null | undefined) =>
    typeof port === 'number' && judged && !known.some((fields) => isOwnPort(fields, port))
  return [
    ...routeProblems(config.routing, foreign),
    ...healthProblems(config, whole ?? false),
    ...metricsProblems(config.metrics, foreign, Boolean(whole && hasPorts)),
  ]
}

type Foreign = (port: number | null | undefined) => boolean

function routeProblems(routing: ContainerConfigFields['routing'], foreign: Foreign): ConfigProblem[] {
  if (!routing) return []
  const problems: ConfigProblem[] = []
  if (foreign(routing.port))
    problems.push(
      problem(
        'routing.port',
        'oneOf',
        `Port ${routing.port} is none of the container's ports: add it or choose another`,
      ),
    )
  if (routing.uploadLimit && !bytesOfUploadLimit(routing.uploadLimit))
    problems.push(problem('routing.uploadLimit', 'matches', 'Write a number of bytes or a size such as 10mb'))
  const host = listedHosts(routing.domain).find((listed) => !isRoutedHost(listed))
  if (host !== undefined)
    problems.push(problem('routing.domain', 'matches', `${host} is no host name: separate several with commas`))
  // The path becomes part of a proxy rule between backquotes, and some proxy versions interpret braces as a pattern.
  if (routing.path && (/[`{}]/.test(routing.path) || !isRequestPath(routing.path)))
    problems.push(
      problem('routing.path', 'matches', `A path has no white space, backquotes or braces: write it ${asciiOnly}`),
    )
  return problems
}

/** A path that HTTP clients send unchanged: they refuse or change any other character of a request line. */
function isRequestPath(path: string): boolean {
  return /^[\x21-\x7e]*$/.test(path)
}

const asciiOnly = 'with characters beyond ASCII percent-encoded'

function healthProblems(config: ContainerConfigFields, whole: boolean): ConfigProblem[] {
  const health = config.healthCheckConfig
  if (!health) return []
  const probes = (['startupProbe', 'readinessProbe', 'livenessProbe'] as const).filter((name) => health[name])
  const problems = probes.flatMap((name) =>
    isRequestPath(health[name] ?? '') && !health[name]?.includes('#')
      ? []
      : [
          problem(
            `healthCheckConfig.${name}`,
            'matches',
            `Write the path of an address such as /healthz, ${asciiOnly}`,
          ),
        ],
  )
  const port = health.port ?? config.routing?.port ?? config.ports?.[0]?.internal
  if (whole && probes.length > 0 && !port)
    problems.push(problem('healthCheckConfig.port', 'required', 'Say which port answers the probe'))
  return problems
}

function metricsProblems(
  metrics: ContainerConfigFields['metrics'],
  foreign: Foreign,
  portNeeded: boolean,
): ConfigProblem[] {
  if (!metrics?.enabled) return []
  const problems: ConfigProblem[] = []
  if (metrics.port ? foreign(metrics.port) : portNeeded)
    problems.push(problem('metrics.port', 'metric-port', "Choose one of the container's ports"))
  if (metrics.path && !(metrics.path.startsWith('/') && isRequestPath(metrics.path)))
    problems.push(
      problem('metrics.path', 'matches', `A path starts with / and has no white space: write it ${asciiOnly}`),
    )
  return problems
}
