import type { FindPortHolders, HostPort } from '@crux/agent-protocol'
import { isOwnedBy, label } from '../../labels.ts'
import type { ContainerEngine, PublishedPort } from '../containers/container-engine.ts'
import { claimedPorts } from '../containers/gated-ports.ts'
import { sharedPort } from '../plan/conflicts.ts'
import type { Gate } from './gate.ts'

/** No deployment publishes more, and each port may require a check of the machine's sockets. */
const portsMax = 256

/**
 * Returns the holders of ports that a deployment would publish, as its start would find them. Containers that the owner has at the prefix
 * do not count: a release replaces them. Names are returned of the team's containers only.
 */
export async function findPortHolders(
  engine: ContainerEngine,
  gate: Gate,
  { owner, ports }: FindPortHolders,
): Promise<{ port: HostPort; containerName: string }[]> {
  const running = (await engine.observeAll()).filter((container) => container.running)
  const isOwn = ({ labels }: { labels: Record<string, string> }) => owner !== undefined && isOwnedBy(labels, owner)
  const held = [...running.flatMap(claimedPorts), ...(await gate.heldPorts())]
  const holders: { port: HostPort; containerName: string }[] = []
  for (const port of ports.slice(0, portsMax)) {
    const wanted: PublishedPort = {
      hostPort: port.port,
      protocol: port.protocol === 'udp' ? 'udp' : 'tcp',
      address: port.address,
    }
    const holder = running.find((container) => !isOwn(container) && sharedPort([wanted], claimedPorts(container)))
    if (holder) {
      const { [label.team]: team, [label.node]: node } = holder.labels
      const isOfTeam = owner !== undefined && team === owner.teamId && node === owner.nodeId
      holders.push({ port, containerName: isOfTeam ? holder.name : '' })
    } else if (!sharedPort([wanted], held) && (await engine.portTakenByProcess(wanted)))
      holders.push({ port, containerName: '' })
  }
  return holders
}
