import { engine, finished, startDeployment, type TestEnvironment } from '@crux/test-kit'

/** What the tests read of the answer of the engine. */
export type ContainerInfo = {
  Name: string
  Image: string
  State: { Status: string; ExitCode: number; StartedAt: string; FinishedAt: string; Health?: { Status: string } }
  Config: {
    Image: string
    Env: string[]
    Labels: Record<string, string>
    ExposedPorts?: Record<string, unknown>
    [field: string]: unknown
  }
  HostConfig: {
    PortBindings?: Record<string, { HostIp: string; HostPort: string }[]>
    Mounts?: { Target: string; Source: string; ReadOnly?: boolean; TmpfsOptions?: { SizeBytes: number } }[]
    ExtraHosts?: string[] | null
    Ulimits?: { Name: string; Soft: number; Hard: number }[] | null
    [field: string]: unknown
  }
  Mounts: { Destination: string }[]
  NetworkSettings: { Networks: Record<string, unknown> }
}

/** The containers of a prefix by their full names, running or not. */
export async function inspectPrefix(prefix: string): Promise<Map<string, ContainerInfo>> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`dev.crux.prefix=${prefix}`] }))
  const listed = await engine<{ Id: string }[]>('GET', `/containers/json?all=true&filters=${filters}`)
  const containers = await Promise.all(listed.map(({ Id }) => engine<ContainerInfo>('GET', `/containers/${Id}/json`)))
  return new Map(containers.map((container) => [container.Name.slice(1), container]))
}

/** The variables of a container by name. */
export const readEnvironment = ({ Config }: ContainerInfo): Record<string, string> =>
  Object.fromEntries(Config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))

/**
 * Starts a deployment whose containers have health checks with long intervals, and waits for its end.
 *
 * @throws with the reason of a failed release
 */
export async function deploySuccessfully(testEnvironment: TestEnvironment, deploymentId: string): Promise<void> {
  await startDeployment(testEnvironment, deploymentId)
  const options = { timeoutMs: 120_000, everyMs: 250, cleanUp: false }
  const { status, outcome } = await finished(testEnvironment, deploymentId, options)
  if (status !== 'successful') throw new Error(`the deployment is ${status}: ${outcome}`)
}
