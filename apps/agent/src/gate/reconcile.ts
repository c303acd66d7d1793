import type { NodeScope } from '../containers/node-scope.ts'
import type { GatedPort, ObservedContainer, PublishedPort } from '../drivers/container-engine.ts'
import { isOwnedBy, label, ownerOf } from '../plan/labels.ts'
import { fullName, networkName } from '../plan/names.ts'
import { type GatePort, keyOf, type PortKey } from './relay/protocol.ts'

/** What the gate must do so that it holds what the containers of the node say, and nothing else. Pure. */
export function reconcile(options: {
  /** Containers with gated ports. */
  containers: readonly ObservedContainer[]
  held: readonly GatePort[]
  /** Whose containers this agent looks after: those of its node and of the team's deleted nodes. */
  scope: Pick<NodeScope, 'covers'>
  /** Whether a release is under way under the prefix: its ports are that one's business. */
  isBusy: (prefix: string) => boolean
  /** Whether ports of a container that has ended are given back, as the engine would; before that whoever connects waits. */
  closeEnded: boolean
}): { open: GatePort[]; close: PortKey[] } {
  const { containers, held, scope, isBusy, closeEnded } = options
  const wanted = new Map<string, GatePort>()
  const ended = new Set<string>()
  for (const container of containers) {
    const prefix = container.labels[label.prefix] ?? ''
    if (!scope.covers(container.labels) || isBusy(prefix)) continue
    // One that is being replaced bears another name, and so does one that is not yet in its place.
    if (container.name !== fullName(prefix, container.labels[label.name] ?? '')) continue
    const lives = container.state !== 'exited' && container.state !== 'dead' && container.state !== 'removing'
    if (!lives) ended.add(container.id)
    else for (const port of gatePorts(container, container.gated)) wanted.set(keyOf(port), port)
  }
  const open: GatePort[] = []
  const close: PortKey[] = []
  for (const port of held) {
    if (isBusy(port.prefix) || wanted.has(keyOf(port))) continue
    if (ended.has(port.container) && !closeEnded) {
      if (port.target !== '') open.push({ ...port, target: '' })
    } else close.push({ port: port.port, address: port.address })
  }
  const current = new Map(held.map((port) => [keyOf(port), JSON.stringify(port)]))
  for (const [key, port] of wanted) {
    const before = held.find((other) => keyOf(other) === key)
    if (before && isBusy(before.prefix)) continue
    if (current.get(key) !== JSON.stringify(port)) open.push(port)
  }
  return { open, close }
}

/** The gate's entries for ports that lead to a container: by its address on its prefix's network, while it runs. */
export function gatePorts(
  container: Pick<ObservedContainer, 'id' | 'labels' | 'networks' | 'state'>,
  ports: readonly GatedPort[],
): GatePort[] {
  const target = addressOf(container)
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

export function addressOf({
  labels,
  networks,
  state,
}: Pick<ObservedContainer, 'labels' | 'networks' | 'state'>): string {
  if (state !== 'running' && state !== 'paused') return ''
  const owner = ownerOf(labels)
  const own = owner && isOwnedBy(labels, owner) ? networkName(owner) : ''
  const joined = networks.filter(({ address }) => address !== '')
  return (joined.find(({ name }) => name === own) ?? joined[0])?.address ?? ''
}

export function portKeys(ports: readonly PublishedPort[]): PortKey[] {
  return ports.map(({ hostPort, address }) => ({ port: hostPort, address }))
}
