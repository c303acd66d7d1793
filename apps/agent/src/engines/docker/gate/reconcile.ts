import type { NodeScope } from '../../../scope/node-scope.ts'
import { getOwner, isOwnedBy, label } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { GatedPort, ObservedContainer, PublishedPort } from '../containers/container-engine.ts'
import { networkName } from '../containers/names.ts'
import { type GatePort, type PortKey, toKey } from './relay/protocol.ts'

/** Returns the changes after which the gate holds exactly the ports of the node's containers. Pure. */
export function reconcile(options: {
  /** Containers with gated ports. */
  containers: readonly ObservedContainer[]
  held: readonly GatePort[]
  /** The owners whose containers this agent manages: its node and the team's deleted nodes. */
  scope: Pick<NodeScope, 'covers'>
  /** Whether a release is in progress under the prefix: that release controls the ports then. */
  isBusy: (prefix: string) => boolean
  /** Whether ports of an ended container are released, as the engine would do; until then clients wait. */
  closeEnded: boolean
}): { open: GatePort[]; close: PortKey[] } {
  const { containers, held, scope, isBusy, closeEnded } = options
  const wanted = new Map<string, GatePort>()
  const ended = new Set<string>()
  for (const container of containers) {
    const prefix = container.labels[label.prefix] ?? ''
    if (!scope.covers(container.labels) || isBusy(prefix)) continue
    // A container that is being replaced has another name, and so does one that has not taken over yet.
    if (container.name !== fullName(prefix, container.labels[label.name] ?? '')) continue
    const lives = container.state !== 'exited' && container.state !== 'dead' && container.state !== 'removing'
    if (!lives) ended.add(container.id)
    else for (const port of gatePorts(container, container.gated)) wanted.set(toKey(port), port)
  }
  const open: GatePort[] = []
  const close: PortKey[] = []
  for (const port of held) {
    if (isBusy(port.prefix) || wanted.has(toKey(port))) continue
    if (ended.has(port.container) && !closeEnded) {
      if (port.target !== '') open.push({ ...port, target: '' })
    } else close.push({ port: port.port, address: port.address })
  }
  const current = new Map(held.map((port) => [toKey(port), JSON.stringify(port)]))
  for (const [key, port] of wanted) {
    const before = held.find((other) => toKey(other) === key)
    if (before && isBusy(before.prefix)) continue
    if (current.get(key) !== JSON.stringify(port)) open.push(port)
  }
  return { open, close }
}

/** The gate's entries for ports that are routed to a container: by its address on its prefix's network, while it runs. */
export function gatePorts(
  container: Pick<ObservedContainer, 'id' | 'labels' | 'networks' | 'state'>,
  ports: readonly GatedPort[],
): GatePort[] {
  const target = getAddress(container)
  return ports.map(({ hostPort, address, containerPort, proxyProtocol }) => ({
    port: hostPort,
    address,
    container: container.id,
    target,
    containerPort,
    proxy: proxyProtocol ?? '',
    prefix: container.labels[label.prefix] ?? '',
  }))
}

export function getAddress({
  labels,
  networks,
  state,
}: Pick<ObservedContainer, 'labels' | 'networks' | 'state'>): string {
  if (state !== 'running' && state !== 'paused') return ''
  const owner = getOwner(labels)
  const own = owner && isOwnedBy(labels, owner) ? networkName(owner) : ''
  const joined = networks.filter(({ address }) => address !== '')
  return (joined.find(({ name }) => name === own) ?? joined[0])?.address ?? ''
}

export function portKeys(ports: readonly PublishedPort[]): PortKey[] {
  return ports.map(({ hostPort, address }) => ({ port: hostPort, address }))
}
