import type { PortHolder } from '@crux/agent-protocol'
import type { ResponseInput } from '@crux/contract'
import { type HostPort, isSameHostPort, publishedPorts } from '@crux/rules'
import type { App } from '../context.ts'
import { type LoadedDeployment, listNeighbours, type Neighbour } from '../releases/index.ts'
import type { Next } from './next-release.ts'

type Problem = ResponseInput<'deployments.preview'>['problems'][number]
/** `name` is empty if the viewer may not see it. */
export type Holder = HostPort & { name: string }

/** The deployment target whose own containers do not count, because a release replaces them. */
export type PortOwner = Pick<LoadedDeployment, 'teamId' | 'projectId' | 'prefix'> & { node: { id: string } }

/** A page waits no longer than this for an agent. */
const askTimeoutMs = 1_500
const portsMax = 256

/**
 * Ports of the node that are not available to a start. The agent's answer takes precedence, because a container may
 * have been stopped and others belong to no release; if it does not answer this process, the records of the current
 * releases are used.
 */
export async function findPortsInUse(
  app: App,
  deployment: LoadedDeployment,
  next: readonly Next[],
): Promise<Problem[]> {
  // A cluster publishes no ports of its machines.
  if (deployment.node.type === 'k8s') return []
  if (next.every(({ config }) => publishedPorts(config).length === 0)) return []
  const neighbours = await listNeighbours(app.database.pool, deployment)
  const wanted = next.flatMap(({ config }) => publishedPorts(config))
  const holders = (await askAgent(app, deployment, wanted)) ?? neighbours.flatMap(toHolders)
  return next.flatMap(({ instanceId, config }, index) =>
    publishedPorts(config).flatMap((port) => {
      const holder = holders.find((other) => isSameHostPort(other, port))
      if (!holder) return []
      const description = describeHolder(deployment.node.name, neighbours, port, holder)
      return [
        {
          property: `instances[${index}].config.${port.property}`,
          error: 'portInUse',
          description: `${config.name}: ${description}`,
          instanceId,
        },
      ]
    }),
  )
}

export function describeHolder(
  nodeName: string,
  neighbours: readonly Neighbour[],
  port: HostPort,
  holder: Holder,
): string {
  const number = Math.max(port.from, holder.from)
  const project = neighbours.find(({ name }) => name === holder.name)?.projectName
  return holder.name
    ? `Port ${number} is used by ${holder.name}${project ? ` of ${project}` : ''} on ${nodeName}. Choose another port, or stop ${holder.name} first.`
    : `Port ${number} is used by something else on ${nodeName}. Choose another port.`
}

/** The ports that a container publishes by the records. */
export const toHolders = ({ name, config }: Neighbour): Holder[] =>
  publishedPorts(config).map((port) => ({ ...port, name }))

/**
 * The holders of the wanted ports, of which the first 256 are asked for; undefined where the agent of the node
 * does not answer this process.
 */
export async function askAgent(
  app: App,
  { teamId, projectId, prefix, node }: PortOwner,
  wanted: readonly HostPort[],
): Promise<Holder[] | undefined> {
  if (app.links.status(node.id) !== 'connected') return undefined
  const ports = wanted.flatMap(({ from, to, protocol, address }) =>
    Array.from({ length: to - from + 1 }, (_, index) => ({ port: from + index, protocol, address })),
  )
  const owner = { teamId, projectId, prefix, nodeId: node.id }
  const answer = await app.links
    .request(node.id, { case: 'findPortHolders', value: { owner, ports: ports.slice(0, portsMax) } }, askTimeoutMs)
    .catch(() => undefined)
  return answer?.case === 'portHolders' ? answer.value.holders.flatMap(toHolder) : undefined
}

function toHolder({ port, containerName }: PortHolder): Holder[] {
  if (!port) return []
  const { port: number, protocol, address } = port
  return [{ from: number, to: number, protocol, address, property: '', name: containerName }]
}
