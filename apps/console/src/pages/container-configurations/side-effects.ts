import type { ContainerConfigFields } from '@crux/contract'
import type { Change } from './config-context.ts'

type Ports = NonNullable<ContainerConfigFields['ports']>
type Volumes = NonNullable<ContainerConfigFields['volumes']>
type Layers = { own: ContainerConfigFields; parent: ContainerConfigFields | null }

/** New ports, and what else no longer holds: a route or metrics of a port that is gone (ui.md U13.4). */
export function portChanges({ own, parent }: Layers, ports: readonly Ports[number][]): Change[] {
  const left = new Set([...ports, ...(parent?.ports ?? [])].map((port) => port.internal))
  const gone = (port: number | null | undefined): boolean =>
    typeof port === 'number' && !left.has(port) && (own.ports ?? []).some((row) => row.internal === port)
  return [
    { field: 'ports', value: ports },
    ...(gone(own.routing?.port) ? [{ field: 'routing' as const, value: { ...own.routing, port: null } }] : []),
    ...(gone(own.metrics?.port) ? [{ field: 'metrics' as const, value: { ...own.metrics, port: null } }] : []),
  ]
}

/** New volumes, and what else no longer holds: an import into a volume that is gone. */
export function volumeChanges({ own, parent }: Layers, volumes: readonly Volumes[number][]): Change[] {
  const path = own.storage?.path
  const has = (rows: readonly { name: string }[]) => rows.some((row) => row.name === path)
  const gone = Boolean(path) && has(own.volumes ?? []) && !has([...volumes, ...(parent?.volumes ?? [])])
  return [
    { field: 'volumes', value: volumes },
    ...(gone ? [{ field: 'storage' as const, value: { ...own.storage, path: null } }] : []),
  ]
}
