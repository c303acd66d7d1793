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

/**
 * Names the volumes inside the file. In Compose services share a volume, while in Crux each container has a directory of its own, so a name that
 * several services use is different for each of them.
 */
export function nameVolumes(images: readonly NamedImage[]): (service: string, name: string) => string {
  const uses = images.flatMap(({ service, config }) => listNamedVolumes(config).map((name) => ({ service, name })))
  const services = Map.groupBy(uses, ({ name }) => name)
  return (service, name) => ((services.get(name)?.length ?? 0) > 1 ? `${service}-${name}` : name)
}

/** The declarations of all named volumes. */
export function renderVolumes(
  images: readonly NamedImage[],
  nameVolume: (service: string, name: string) => string,
): ComposeRecord {
  return Object.fromEntries(
    images.flatMap(({ service, config }) => listNamedVolumes(config).map((name) => [nameVolume(service, name), null])),
  )
}

const listNamedVolumes = ({ volumes }: NamedImage['config']): string[] =>
  (volumes ?? []).flatMap(({ name, type }) => (name.startsWith('/') || type === 'mem' || type === 'tmp' ? [] : [name]))
