import { type ComposeNode, createList, getEntry, getText, type ListNode, type MapNode, mapEntries } from './nodes.ts'
import type { ProblemList } from './problems.ts'

/** Lists of a service in which an item replaces an earlier one with the same key, and how an item's key is found. */
const keys: Record<string, (item: ComposeNode) => string | undefined> = {
  annotations: getKeyOfPair,
  cap_add: getText,
  cap_drop: getText,
  configs: (item) => getMountTarget(item, ''),
  devices: (item) => getText(getEntry(item, 'target')) ?? getText(item)?.split(':').at(1) ?? getText(item),
  dns: getText,
  dns_opt: getText,
  dns_search: getText,
  env_file: (item) => getText(item) ?? getText(getEntry(item, 'path')),
  environment: getKeyOfPair,
  expose: getScalar,
  labels: getKeyOfPair,
  links: getText,
  ports: getPortKey,
  profiles: getText,
  secrets: (item) => getMountTarget(item, '/run/secrets'),
  sysctls: getKeyOfPair,
  tmpfs: getText,
  volumes: getVolumeTarget,
}

/** Of the items with the same key, the last one is kept, in the place of the first. */
export function makeItemsUnique(services: MapNode): MapNode {
  return mapEntries(services, (service) =>
    service.kind === 'map'
      ? mapEntries(service, (node, key) => {
          const toKey = Object.hasOwn(keys, key) ? keys[key] : undefined
          return node.kind === 'list' && toKey ? keepLast(node, toKey) : node
        })
      : service,
  )
}

/** Warns about volumes of one service that have the same target in one file. An override means to replace, and one file can only be mistaken. */
export function reportRepeatedTargets(root: MapNode, problems: ProblemList): void {
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') return
  for (const [name, { node }] of services.entries) {
    const volumes = getEntry(node, 'volumes')
    const lines = new Map<string, number>()
    for (const [index, item] of (volumes?.kind === 'list' ? volumes.items : []).entries()) {
      const target = getVolumeTarget(item)
      if (target === undefined) continue
      const earlier = lines.get(target)
      lines.set(target, item.position.line)
      if (earlier !== undefined)
        problems.warning(
          item.position,
          ['services', name, 'volumes', index],
          `A volume is already mounted at "${target}" in line ${earlier}, and this one replaces it. Remove one of the two, or mount one elsewhere.`,
        )
    }
  }
}

function keepLast(list: ListNode, toKey: (item: ComposeNode) => string | undefined): ComposeNode {
  const items = new Map<string, ComposeNode>()
  for (const [index, item] of list.items.entries()) items.set(toKey(item) ?? `\0${index}`, item)
  return items.size === list.items.length ? list : createList(list.position, [...items.values()], list.tag)
}

function getScalar(item: ComposeNode | undefined): string | undefined {
  return item?.kind === 'scalar' && item.value !== null ? String(item.value) : undefined
}

function getKeyOfPair(item: ComposeNode): string | undefined {
  return getText(item)?.split('=', 1)[0]
}

function getMountTarget(item: ComposeNode, directory: string): string | undefined {
  const source = getText(item) ?? getText(getEntry(item, 'source'))
  return getText(getEntry(item, 'target')) ?? (source === undefined ? undefined : `${directory}/${source}`)
}

/** The path in the container: of `source:target:options`, `source:target` or `target`. A drive letter is part of a path. */
function getVolumeTarget(item: ComposeNode): string | undefined {
  const text = getText(item)
  if (text === undefined) return getText(getEntry(item, 'target'))?.replace(/(?<=.)\/$/, '')
  const parts = text.replace(/(^|:)([a-zA-Z]):(?=[\\/])/g, '$1$2\0').split(':')
  return (parts[1] ?? parts[0])?.replaceAll('\0', ':').replace(/(?<=.)\/$/, '')
}

/** Address, published port, port of the container and protocol: of `address:published:target/protocol`, whose target alone is required. */
function getPortKey(item: ComposeNode): string | undefined {
  const short = getScalar(item)
  if (short !== undefined) {
    const [ports = '', protocol] = short.split('/', 2)
    const parts = ports.split(':')
    const target = parts.pop() ?? ''
    const published = parts.pop() ?? ''
    return formatPort(parts.join(':'), published, target, protocol)
  }
  const target = getScalar(getEntry(item, 'target'))
  if (target === undefined) return undefined
  const get = (key: string) => getScalar(getEntry(item, key))
  return formatPort(get('host_ip') ?? '', get('published') ?? '', target, get('protocol'))
}

const formatPort = (address: string, published: string, target: string, protocol = 'tcp') =>
  `${address === '0.0.0.0' ? '' : address}:${published}:${target}/${protocol}`
