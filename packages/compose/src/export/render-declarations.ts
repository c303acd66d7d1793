import { parseNetworkKey } from '@crux/rules'
import type { ComposeRecord } from '../convert/values.ts'
import type { NamedImage } from './service-names.ts'

/** The networks that the services name, except those of a container without a network of its own. */
export function renderNetworks(images: readonly NamedImage[]): ComposeRecord {
  const keys = images.flatMap(({ config }) => (config.networks ?? []).map(({ key }) => key))
  return Object.fromEntries([...new Set(keys)].map((key) => renderNetwork(key)))
}

function renderNetwork(key: string): [string, ComposeRecord | null] {
  const { kind, name } = parseNetworkKey(key)
  return [toNetworkName(key), kind === 'engine' ? { name, external: true } : null]
}

/** The name of a network inside the file. One of the engine may be called as one of the team. */
export function toNetworkName(key: string): string {
  const { kind, name } = parseNetworkKey(key)
  return kind === 'engine' ? `engine-${name}` : name
}

/** The named volumes of all services. */
export function renderVolumes(images: readonly NamedImage[]): ComposeRecord {
  const names = images.flatMap(({ config }) =>
    (config.volumes ?? []).flatMap(({ name, type }) =>
      name.startsWith('/') || type === 'mem' || type === 'tmp' ? [] : [name],
    ),
  )
  return Object.fromEntries([...new Set(names)].map((name) => [name, null]))
}
