import type { FinalContainerConfig } from '@crux/contract'
import { type BucketSource, type ConfigSource, toBucketSource, toConfigSource } from '../../file-sources.ts'
import { type ParsedImage, parseImage } from '../../images/image-reference.ts'
import type { Mount } from '../containers/container-engine.ts'
import type { VolumeMount } from './mounts.ts'

/** What runs for an instance before its container starts, in this order. */
export type Preparation = ConfigCopy | StorageImport | InitRun

/** Copies files of an image into a volume. */
export interface ConfigCopy extends ConfigSource {
  kind: 'config'
  directory: WritableDirectory
}

/** Makes a volume the mirror of a prefix of a bucket. */
export interface StorageImport extends BucketSource {
  kind: 'import'
  directory: WritableDirectory
}

/** A container that runs to its end. */
export interface InitRun {
  kind: 'init'
  name: string
  image: ParsedImage
  entrypoint: readonly string[]
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  /** Whether it gets the environment, the secrets, the networks and the names of the container that it prepares. */
  withParent: boolean
  mounts: readonly Mount[]
}

/** A directory that the agent itself writes: below its data directory, or, as its own process sees it, anywhere on the node. */
export type WritableDirectory = { kind: 'data'; relativePath: string } | { kind: 'host'; path: string }

/**
 * @param options.seesHost whether paths of the node are paths of the agent's process too
 * @throws Error with a sentence for users
 */
export function toPreparations(
  config: FinalContainerConfig,
  volumes: ReadonlyMap<string, VolumeMount>,
  options: { seesHost: boolean; hasStorage: boolean },
): Preparation[] {
  const found: Preparation[] = []
  const files = toConfigSource(config)
  if (files)
    found.push({
      kind: 'config',
      ...files,
      directory: writableDirectory('the config container', files.volume, volumes, options),
    })
  if (config.storage?.storageId && !options.hasStorage)
    throw new Error('the release does not say where the storage is: start it again')
  const objects = toBucketSource(config)
  if (objects)
    found.push({
      kind: 'import',
      ...objects,
      directory: writableDirectory('the import from a storage', objects.volume, volumes, options),
    })
  const names = new Set<string>()
  for (const given of config.initContainers ?? []) {
    if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(given.name))
      throw new Error(`"${given.name}" is not a name for an init container: use letters, digits, dots, dashes`)
    if (names.has(given.name)) throw new Error(`two init containers are called ${given.name}`)
    names.add(given.name)
    found.push({
      kind: 'init',
      name: given.name,
      image: parseImage(given.image),
      entrypoint: (given.command ?? []).map(({ key }) => key),
      command: (given.args ?? []).map(({ key }) => key),
      environment: Object.fromEntries((given.environment ?? []).map(({ key, value }) => [key, value])),
      withParent: given.useParentConfig,
      mounts: (given.volumes ?? []).map((link) => linkedMount(given.name, link, volumes)),
    })
  }
  return found
}

/** Sources on the node that preparations write, whatever the container itself may do with them. */
export function writtenSources(
  preparations: readonly Preparation[],
  volumes: ReadonlyMap<string, VolumeMount>,
): Set<string> {
  return new Set(
    preparations.flatMap((preparation) =>
      preparation.kind === 'init'
        ? preparation.mounts.map(({ source }) => source)
        : [volumes.get(preparation.volume)?.mount.source ?? ''],
    ),
  )
}

/** Images besides the instance's own. */
export function listImages(preparations: readonly Preparation[]): ParsedImage[] {
  return preparations.flatMap((preparation) => ('image' in preparation ? [preparation.image] : []))
}

/** Writable even where the container only reads, because init containers exist to fill it. */
function linkedMount(
  init: string,
  link: { name: string; path: string },
  volumes: ReadonlyMap<string, VolumeMount>,
): Mount {
  const volume = volumes.get(link.name)
  if (!volume)
    throw new Error(`the init container ${init} links the volume ${link.name}, which is none of this container`)
  if (!link.path.startsWith('/')) throw new Error(`the path ${link.path} of the init container ${init} is not absolute`)
  if (volume.mount.kind === 'memory')
    throw new Error(
      `the init container ${init} links the volume ${link.name}, which is memory of one container: use the type rwo`,
    )
  return { ...volume.mount, target: link.path, writable: true }
}

function writableDirectory(
  what: string,
  name: string,
  volumes: ReadonlyMap<string, VolumeMount>,
  { seesHost }: { seesHost: boolean },
): WritableDirectory {
  const volume = volumes.get(name)
  if (!volume) throw new Error(`${what} writes into the volume ${name}, which is none of this container`)
  if (volume.mount.kind === 'memory')
    throw new Error(`${what} writes into the volume ${name}, which is memory and empty at each start: use the type rwo`)
  if (volume.relativePath !== undefined) return { kind: 'data', relativePath: volume.relativePath }
  const path = volume.mount.source
  if (!seesHost)
    throw new Error(
      `${what} writes into ${path} of the node, which this agent does not see, since it runs in a container: use a volume without a leading slash`,
    )
  // Files that the source does not have are deleted there, so a mistyped path must not empty the machine.
  if (path.split('/').filter((part) => part !== '').length < 2)
    throw new Error(`${what} would replace all of ${path}: use a directory of its own`)
  return { kind: 'host', path }
}
