import { Agent } from 'node:http'
import { inspect } from 'node:util'
import Docker from 'dockerode'

/** The Engine API that this driver speaks; an engine that no longer has it gets its own oldest. */
const apiVersion = '1.41'

/**
 * @param dockerHost `unix:///path` or `tcp://host:port`
 *
 * Sockets stay open between requests: on a unix socket a new one costs more than most requests.
 */
export async function openDocker(dockerHost: string): Promise<{ docker: Docker; close: () => void }> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 32, timeout: 0 })
  // docker-modem describes each request for its debug output, wanted or not: with all sockets of the pool that costs more than the request.
  Object.assign(agent, { [inspect.custom]: () => 'Agent' })
  const make = (version?: string) =>
    new Docker({ ...addressOf(dockerHost), agent, ...(version && { version }) } as Docker.DockerOptions)
  const offered = (await make().version()) as { MinAPIVersion?: string }
  return { docker: make(`v${newer(apiVersion, offered.MinAPIVersion ?? apiVersion)}`), close: () => agent.destroy() }
}

function addressOf(dockerHost: string): Docker.DockerOptions {
  const url = new URL(dockerHost)
  if (url.protocol === 'unix:') return { socketPath: url.pathname }
  return { protocol: 'http', host: url.hostname, port: Number(url.port || 2375) }
}

function newer(left: string, right: string): string {
  const minor = (version: string) => Number(version.split('.')[1] ?? 0)
  return minor(right) > minor(left) ? right : left
}
