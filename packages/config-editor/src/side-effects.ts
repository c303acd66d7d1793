import type { ContainerConfigFields, ContainerConfigType, NodeType } from '@crux/contract'
import type { FieldChange } from './config-draft.ts'

type Ports = NonNullable<ContainerConfigFields['ports']>
type Volumes = NonNullable<ContainerConfigFields['volumes']>
type Layers = { own: ContainerConfigFields; parent: ContainerConfigFields | null }
type Context = { kind: ContainerConfigType; nodeType: NodeType | null }

/**
 * New ports, and the changes they cause: a route or metrics of a deleted port are cleared. The first published TCP port of an
 * instance on a node with a port gate proposes to keep ports open, unless a layer already sets that.
 */
export function portChanges(
  { own, parent, kind, nodeType }: Layers & Context,
  ports: readonly Ports[number][],
): FieldChange[] {
  const isPublished = (port: Ports[number]) => Boolean(port.external) && port.protocol !== 'udp'
  const isFirst = ports.some(isPublished) && ![...(own.ports ?? []), ...(parent?.ports ?? [])].some(isPublished)
  const proposesGate = isFirst && kind === 'instance' && nodeType === 'docker' && !own.portGate && !parent?.portGate
  const left = new Set([...ports, ...(parent?.ports ?? [])].map((port) => port.internal))
  const gone = (port: number | null | undefined): boolean =>
    typeof port === 'number' && !left.has(port) && (own.ports ?? []).some((row) => row.internal === port)
  return [
    { field: 'ports', value: ports },
    ...(proposesGate ? [{ field: 'portGate' as const, value: { enabled: true } }] : []),
    ...(gone(own.routing?.port) ? [{ field: 'routing' as const, value: { ...own.routing, port: null } }] : []),
    ...(gone(own.metrics?.port) ? [{ field: 'metrics' as const, value: { ...own.metrics, port: null } }] : []),
  ]
}

/** New volumes, and the change they cause: an import into a deleted volume is cleared. */
export function volumeChanges({ own, parent }: Layers, volumes: readonly Volumes[number][]): FieldChange[] {
  const path = own.storage?.path
  const has = (rows: readonly { name: string }[]) => rows.some((row) => row.name === path)
  const gone = Boolean(path) && has(own.volumes ?? []) && !has([...volumes, ...(parent?.volumes ?? [])])
  return [
    { field: 'volumes', value: volumes },
    ...(gone ? [{ field: 'storage' as const, value: { ...own.storage, path: null } }] : []),
  ]
}
