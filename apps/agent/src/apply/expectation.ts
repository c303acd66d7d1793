import type { FinalContainerConfig } from '@crux/contract'

/** What a container must show to count as deployed. */
export interface ExpectedState {
  kind: 'running' | 'exited' | 'waiting'
  /** How long a running one must keep running. */
  windowMs: number
  /** When waiting for it ends. */
  timeoutMs: number
  exitCode: number
  probe: { port: number; path: string } | undefined
}

const defaultWindowMs = 1_000
const healthTimeoutMs = 60_000
const stateTimeoutMs = 120_000

/** Decision 26: health waits 60 s, a named state 120 s, unless the configuration says otherwise. */
export function expectationOf(config: FinalContainerConfig, windowMs: number): ExpectedState {
  const { expectedState } = config
  const timeoutMs = expectedState?.timeout
    ? expectedState.timeout * 1_000
    : expectedState
      ? stateTimeoutMs
      : healthTimeoutMs
  return {
    kind: expectedState?.state ?? 'running',
    windowMs: windowMs > 0 ? windowMs : defaultWindowMs,
    timeoutMs,
    exitCode: expectedState?.exitCode ?? 0,
    probe: probeOf(config),
  }
}

/** In words, for the page: what it waits for and when it gives up. */
export function expectationInWords(expected: ExpectedState): string {
  const limit = `at most ${Math.round(expected.timeoutMs / 1_000)} s`
  if (expected.kind === 'exited') return `waits for exit code ${expected.exitCode}, ${limit}`
  if (expected.kind === 'waiting') return `waits for the state waiting, ${limit}`
  if (expected.probe) return `waits for GET ${expected.probe.path} on port ${expected.probe.port}, ${limit}`
  return `runs for ${expected.windowMs / 1_000} s`
}

function probeOf(config: FinalContainerConfig): ExpectedState['probe'] {
  const probes = config.healthCheckConfig
  const path = probes?.readinessProbe || probes?.startupProbe || probes?.livenessProbe
  if (!path) return undefined
  const port = probes?.port ?? config.routing?.port ?? config.ports[0]?.internal
  return port ? { port, path: path.startsWith('/') ? path : `/${path}` } : undefined
}
