import type { FinalContainerConfig } from '@crux/contract'
import { healthCheckTest } from '@crux/rules'

/** The state that a container must reach to count as deployed. */
export interface ExpectedState {
  kind: 'running' | 'exited' | 'waiting'
  /** How long a running container must keep running. */
  windowMs: number
  /** When the wait for that state ends. */
  timeoutMs: number
  exitCode: number
  /** Probes run one after another; each must succeed once. */
  probes: readonly HttpProbe[]
}

export interface HttpProbe {
  port: number
  path: string
}

const defaultWindowMs = 1_000
const healthTimeoutMs = 60_000
const stateTimeoutMs = 120_000

/** By default the wait is 60 s for health and 120 s for a named state; the configuration can override both. */
export function toExpectation(config: FinalContainerConfig, windowMs: number): ExpectedState {
  const { expectedState } = config
  const defaultMs = expectedState ? stateTimeoutMs : healthTimeoutMs
  const timeoutMs = expectedState?.timeout ? expectedState.timeout * 1_000 : Math.max(defaultMs, checkedAfterMs(config))
  return {
    kind: expectedState?.state ?? 'running',
    windowMs: windowMs > 0 ? windowMs : defaultWindowMs,
    timeoutMs,
    exitCode: expectedState?.exitCode ?? 0,
    probes: toProbes(config),
  }
}

/** Describes for the page what the release waits for and when it gives up. */
export function describeExpectation(expected: ExpectedState): string {
  const limit = `at most ${Math.round(expected.timeoutMs / 1_000)} s`
  if (expected.kind === 'exited') return `waits for exit code ${expected.exitCode}, ${limit}`
  if (expected.kind === 'waiting') return `waits for the state waiting, ${limit}`
  if (expected.probes.length > 0)
    return `waits for ${expected.probes.map(({ path, port }) => `GET ${path} on port ${port}`).join(' and ')}, ${limit}`
  return `runs for ${expected.windowMs / 1_000} s`
}

/**
 * Startup runs before readiness. A liveness path is probed only where it is the only path: on Docker nothing probes it again later. A probe
 * without a port of its own uses the first port of the container.
 */
function toProbes(config: FinalContainerConfig): HttpProbe[] {
  const { startupProbe, readinessProbe, livenessProbe, port: own } = config.healthCheckConfig ?? {}
  const port = own ?? config.routing?.port ?? config.ports.find(({ protocol }) => protocol !== 'udp')?.internal
  const given = [startupProbe, readinessProbe].filter((path) => path != null && path !== '')
  const paths = given.length > 0 || !livenessProbe ? given : [livenessProbe]
  if (!port) return []
  return [...new Set(paths.map((path) => (path?.startsWith('/') ? path : `/${path}`)))].map((path) => ({ port, path }))
}

/** When the engine's own check has used its start period and all its attempts: its result is not final before that. */
function checkedAfterMs({ healthCheckConfig }: FinalContainerConfig): number {
  const { intervalSeconds, timeoutSeconds, startPeriodSeconds, retries } = healthCheckConfig ?? {}
  const test = healthCheckTest(healthCheckConfig)
  if (test?.[0] === 'NONE' || (!test && intervalSeconds == null && startPeriodSeconds == null)) return 0
  const each = (intervalSeconds ?? 30) + (timeoutSeconds ?? 30)
  return ((startPeriodSeconds ?? 0) + each * ((retries ?? 3) + 1)) * 1_000
}
