import { CruxError, type NodeType, type PortProtocol } from '@crux/contract'
import { type HostPort, isSameHostPort, publishedPorts } from '@crux/rules'
import type { App } from '../context.ts'
import { listNeighbours } from '../releases/index.ts'
import { askAgent, describeHolder, type PortOwner, toHolders } from './ports-in-use.ts'

/** A node and prefix where a project that does not exist yet will be deployed. */
export type TargetNode = { id: string; name: string; type: NodeType }
type Target = { teamId: string; node: TargetNode; prefix: string }
type ProposedPort = { internal: number; external: number; protocol: PortProtocol }

/** Ports below need a privilege on many machines, and often belong to a proxy. */
const unprivilegedFrom = 1_024
const proposedFrom = 8_080
/** Ports from 8080 up that the agent is asked for. The start finds those that lie beyond and are in use. */
const candidatesCount = 100
const portMax = 65_535
/** No container has the labels of this project, so that each one on the node counts. */
const noProject = '00000000-0000-0000-0000-000000000000'

/**
 * Proposes a port of the node for each port of a container: the same one where it is free and needs no privilege,
 * otherwise the next free one from 8080 up. Two answers may propose the same port: the start refuses the second one.
 */
export async function proposePorts(
  app: App,
  target: Target,
  ports: readonly Omit<ProposedPort, 'external'>[],
): Promise<ProposedPort[]> {
  if (ports.length === 0) return []
  // Each container of a cluster has a service of its own, at an address of its own.
  if (target.node.type === 'k8s') return ports.map((port) => ({ ...port, external: port.internal }))
  const protocols = [...new Set(ports.map(({ protocol }) => protocol))]
  const wanted = [
    ...ports.map(({ internal, protocol }) => toHostPort(internal, protocol)),
    ...protocols.flatMap((protocol) =>
      Array.from({ length: candidatesCount }, (_, index) => toHostPort(proposedFrom + index, protocol)),
    ),
  ]
  const owner = toOwner(target)
  const [neighbours, answer] = await Promise.all([
    listNeighbours(app.database.pool, { ...owner, nodeId: target.node.id }),
    askAgent(app, owner, wanted),
  ])
  // A stopped container of a deployment has its port by the records, and takes it again when it starts.
  const used: HostPort[] = [...neighbours.flatMap(toHolders), ...(answer ?? [])]
  return ports.map(({ internal, protocol }) => {
    const isFree = (port: number) => !used.some((other) => isSameHostPort(other, toHostPort(port, protocol)))
    let external = internal
    if (internal < unprivilegedFrom || !isFree(internal)) {
      external = proposedFrom
      while (!isFree(external) && external < portMax) external++
    }
    used.push(toHostPort(external, protocol))
    return { internal, external, protocol }
  })
}

/**
 * Checks the ports that a new container will publish, before anything of it is stored.
 *
 * @throws CruxError preconditionFailed `ports[0].external` with the container that uses the port
 */
export async function checkPortsFree(
  app: App,
  target: Target,
  config: Parameters<typeof publishedPorts>[0],
): Promise<void> {
  const ports = publishedPorts(config)
  if (ports.length === 0 || target.node.type === 'k8s') return
  const owner = toOwner(target)
  const [neighbours, answer] = await Promise.all([
    listNeighbours(app.database.pool, { ...owner, nodeId: target.node.id }),
    askAgent(app, owner, ports),
  ])
  const holders = answer ?? neighbours.flatMap(toHolders)
  for (const port of ports) {
    const holder = holders.find((other) => isSameHostPort(other, port))
    if (holder)
      throw new CruxError('preconditionFailed', {
        property: port.property,
        value: port.from,
        description: describeHolder(target.node.name, neighbours, port, holder),
      })
  }
}

const toOwner = ({ teamId, node, prefix }: Target): PortOwner => ({ teamId, projectId: noProject, prefix, node })

const toHostPort = (port: number, protocol: PortProtocol): HostPort => ({
  from: port,
  to: port,
  protocol,
  address: '',
  property: '',
})
