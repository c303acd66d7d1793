import type { ContainerConfigFields } from '@crux/contract'
import type { ComposePath, ComposeValue } from '../model.ts'
import { listNames } from './names.ts'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import { formatQuantity, parseByteSize } from './units.ts'
import {
  type ComposeRecord,
  getMember,
  isComposeRecord,
  toBoolean,
  toComposeRecord,
  toList,
  toText,
  toTexts,
} from './values.ts'

type VolumeRow = NonNullable<ContainerConfigFields['volumes']>[number]
type VolumeType = NonNullable<VolumeRow['type']>
type Mount = {
  kind: string
  source: string | undefined
  target: string
  type: VolumeType
  size?: string | undefined
  subpath?: string | undefined
}
type Placed = PlacedRow<VolumeRow>
/** What a service mounts, with the names and targets that are taken. */
type Mounts = { rows: Placed[]; names: Set<string>; nextNumbers: Map<string, number> }

/** Converts `volumes` (short and long) and `tmpfs`. */
export function convertVolumes(context: ServiceContext): void {
  const mounts: Mounts = { rows: [], names: new Set(), nextNumbers: new Map() }
  for (const [index, item] of toList(context.get('volumes')).entries()) {
    const path = ['volumes', index]
    const mount = isComposeRecord(item) ? readLongVolume(context, item, path) : readShortVolume(context, item, path)
    if (mount) addMount(context, mounts, mount, path)
  }
  const tmpfs = context.get('tmpfs')
  for (const [index, text] of toTexts(tmpfs).entries()) {
    const path = Array.isArray(tmpfs) ? ['tmpfs', index] : ['tmpfs']
    const mount = readTmpfs(context, text, path)
    if (mount) addMount(context, mounts, mount, path)
  }
  setRows(context, 'volumes', mounts.rows, (volumes) => {
    context.config.volumes = volumes
  })
}

const drive = /^[a-zA-Z]:[\\/]/

/** `[source:]target[:mode,mode]`. */
function readShortVolume(context: ServiceContext, item: ComposeValue, path: ComposePath): Mount | undefined {
  const text = (toText(item) ?? '').trim()
  if (drive.test(text)) {
    context.omit(path, 'It is a path of Windows, which a node does not have')
    return undefined
  }
  const [first = '', second, modes, ...rest] = text.split(':')
  if (rest.length > 0 || first === '' || second === '') {
    context.error(path, `"${text}" is not a volume: write it like "data:/var/lib/data" or "/srv/files:/files:ro"`)
    return undefined
  }
  const type = readModes(context, modes ?? '', path)
  if (second === undefined) return { kind: 'volume', source: undefined, target: first, type }
  return { kind: /^[./~]/.test(first) ? 'bind' : 'volume', source: first, target: second, type }
}

const volumeTypes: ReadonlyMap<string, VolumeType> = new Map([
  ['ro', 'ro'],
  ['rwx', 'rwx'],
  ['mem', 'mem'],
  ['tmp', 'tmp'],
])
const modesWithoutLoss: ReadonlySet<string> = new Set(['', 'rw', 'rwo', 'nocopy', 'rprivate'])
const lostModes: ReadonlyMap<string, string> = new Map([
  ['z', 'Crux relabels no files of the node: give them their label there'],
  ['Z', 'Crux relabels no files of the node: give them their label there'],
  ['cached', 'It has an effect only in Docker Desktop'],
  ['delegated', 'It has an effect only in Docker Desktop'],
  ['consistent', 'It has an effect only in Docker Desktop'],
])

function readModes(context: ServiceContext, modes: string, path: ComposePath): VolumeType {
  let type: VolumeType = 'rwo'
  for (const mode of modes.split(',')) {
    type = volumeTypes.get(mode) ?? type
    if (volumeTypes.has(mode) || modesWithoutLoss.has(mode)) continue
    const reason = lostModes.get(mode)
    if (reason) context.omit(path, `${mode}: ${reason}`)
    else if (/^r?(shared|slave|private)$/.test(mode)) context.omit(path, `${mode}: mounts are private to the container`)
    else context.error(path, `"${mode}" is not a mode of a volume: use ro or rw`)
  }
  return type
}

function readLongVolume(context: ServiceContext, item: ComposeRecord, path: ComposePath): Mount | undefined {
  const kind = toText(item.type) ?? ''
  const target = toText(item.target)
  if (!['bind', 'volume', 'tmpfs'].includes(kind)) {
    context.omit(path, `Crux has no volumes of the type ${kind}: use a named volume, a path of the node or tmpfs`)
    return undefined
  }
  if (!target) {
    context.error(path, 'Say where the volume is mounted: add its target')
    return undefined
  }
  const isReadOnly = toBoolean(item.read_only) ?? false
  const size = toText(getMember(toComposeRecord(item.tmpfs), 'size'))
  return {
    kind,
    source: toText(item.source) || undefined,
    target,
    type: kind === 'tmpfs' ? 'mem' : isReadOnly ? 'ro' : 'rwo',
    ...(kind === 'tmpfs' && { size: readSize(context, size, [...path, 'tmpfs', 'size']) }),
    subpath: toText(getMember(toComposeRecord(item.volume), 'subpath')) || undefined,
  }
}

/** `/run:size=64m,mode=1777`. */
function readTmpfs(context: ServiceContext, text: string, path: ComposePath): Mount | undefined {
  const [target = '', options = ''] = text.split(':', 2)
  let size: string | undefined
  for (const option of options.split(',').filter(Boolean)) {
    const [name, value] = option.split('=', 2)
    if (name === 'size') size = value
    else if (!(name === 'rw' || (name === 'mode' && /^0?1777$/.test(value ?? ''))))
      context.omit(path, `${option}: a volume in memory has no options but its size`)
  }
  return { kind: 'tmpfs', source: undefined, target, type: 'mem', size: readSize(context, size, path) }
}

function readSize(context: ServiceContext, text: string | undefined, path: ComposePath): string | undefined {
  const bytes = text === undefined ? undefined : parseByteSize(text)
  if (text !== undefined && bytes === undefined) context.error(path, `"${text}" is not a size: write it like 64m or 1g`)
  return bytes ? formatQuantity(bytes) : undefined
}

function addMount(context: ServiceContext, mounts: Mounts, mount: Mount, path: ComposePath): void {
  const name = getName(context, mounts, mount, path)
  if (name === undefined) return
  const { type, size, target } = mount
  if (mount.kind === 'tmpfs' && !size)
    context.omit(path, 'Without a size, a volume in memory has 64 MiB here: set one if that is not enough')
  if (mounts.names.has(name)) {
    context.omit(path, `Crux mounts a volume once in a container: ${name} is mounted already`)
    return
  }
  mounts.names.add(name)
  mounts.rows.push({ row: { name, path: target, type, ...(size && { size }) }, path })
}

/** The name of the volume; undefined if it cannot be mounted. */
function getName(context: ServiceContext, mounts: Mounts, mount: Mount, path: ComposePath): string | undefined {
  const { kind, source, target, subpath } = mount
  if (kind === 'bind') {
    if (source?.startsWith('/')) return source
    context.omit(
      path,
      `${source ?? 'The path'} is next to the compose file, and a node has no such directory: use an absolute path of the node, a named volume, or build the files into the image`,
    )
    return undefined
  }
  if (kind === 'tmpfs' || source === undefined) return nameByPath(mounts, target)
  if (!Object.hasOwn(toComposeRecord(getMember(context.root, 'volumes')), source)) {
    context.error(path, `The volume ${source} is not declared: add it to the volumes at the end of the file`)
    return undefined
  }
  if (subpath === undefined) return source
  const name = `${source}-${subpath.replaceAll(/[^\w.-]+/g, '-')}`
  context.omit([...path, 'volume', 'subpath'], `Crux mounts whole volumes: it becomes a volume of its own, ${name}`)
  return name
}

/** Volumes without a name are called as their directory. */
function nameByPath({ names, nextNumbers }: Mounts, target: string): string {
  const last = target.split('/').filter(Boolean).at(-1)
  const name = last?.replaceAll(/[^\w.-]+/g, '-').replace(/^[-.]+/, '') || 'volume'
  if (!names.has(name)) return name
  let number = nextNumbers.get(name) ?? 2
  while (names.has(`${name}-${number}`)) number += 1
  nextNumbers.set(name, number + 1)
  return `${name}-${number}`
}

/** Reports named volumes of several services: each of their containers has a directory of its own. */
export function reportSharedVolumes(contexts: readonly ServiceContext[]): void {
  const mounts = contexts.flatMap((context) =>
    (context.config.volumes ?? []).flatMap(({ name, type }, index) =>
      name.startsWith('/') || type === 'mem' || type === 'tmp' ? [] : [{ context, name, index }],
    ),
  )
  const declared = (context: ServiceContext, name: string) =>
    Object.hasOwn(toComposeRecord(getMember(context.root, 'volumes')), name)
  for (const [name, sharing] of Map.groupBy(mounts, (mount) => mount.name)) {
    if (sharing.length < 2) continue
    const services = listNames(sharing.map(({ context }) => context.service))
    for (const { context, index } of sharing)
      if (declared(context, name))
        context.omit(
          context.origins.get(`volumes[${index}]`) ?? ['volumes'],
          `${services} share this volume in Compose. Here each of them has a directory of its own: to share files, an admin can use a path of the node`,
        )
  }
}
