import type { ComposePath, ComposeValue, SourcePosition } from '../model.ts'

/** Tags of the Compose Specification: an override removes, or replaces, what earlier files say. */
export type MergeTag = 'reset' | 'override'

type Common = {
  position: SourcePosition
  tag: MergeTag | undefined
  /** Values in it, itself included, with aliases expanded. */
  size: number
  /** Characters of the texts in it, with aliases expanded. */
  textLength: number
  /** Levels in it, itself included. */
  depth: number
  /** Whether it, or a value in it, has a tag. */
  isTagged: boolean
}

export type Entry = { keyPosition: SourcePosition; node: ComposeNode }
export type MapNode = Common & { kind: 'map'; entries: ReadonlyMap<string, Entry> }
export type ListNode = Common & { kind: 'list'; items: readonly ComposeNode[] }
export type ScalarNode = Common & { kind: 'scalar'; value: string | number | boolean | null }

/** A value of a compose file and where it was written. Nodes are never changed, because an alias shares the node of its anchor. */
export type ComposeNode = MapNode | ListNode | ScalarNode

export function createMap(position: SourcePosition, entries: ReadonlyMap<string, Entry>, tag?: MergeTag): MapNode {
  const map: MapNode = {
    kind: 'map',
    entries,
    position,
    tag,
    size: 1,
    textLength: 0,
    depth: 1,
    isTagged: tag !== undefined,
  }
  for (const { node } of entries.values()) addChild(map, node)
  return map
}

export function createList(position: SourcePosition, items: readonly ComposeNode[], tag?: MergeTag): ListNode {
  const list: ListNode = {
    kind: 'list',
    items,
    position,
    tag,
    size: 1,
    textLength: 0,
    depth: 1,
    isTagged: tag !== undefined,
  }
  for (const item of items) addChild(list, item)
  return list
}

export function createScalar(position: SourcePosition, value: ScalarNode['value'], tag?: MergeTag): ScalarNode {
  const textLength = typeof value === 'string' ? value.length : 0
  return { kind: 'scalar', value, position, tag, size: 1, textLength, depth: 1, isTagged: tag !== undefined }
}

function addChild(parent: MapNode | ListNode, child: ComposeNode): void {
  parent.size += child.size
  parent.textLength += child.textLength
  parent.depth = Math.max(parent.depth, child.depth + 1)
  parent.isTagged ||= child.isTagged
}

/** Its value in the merged document: without tags, and without what `!reset` removes. Undefined if that is the whole node. */
export function resolveTags(node: ComposeNode): ComposeNode | undefined {
  if (node.tag === 'reset') return undefined
  if (!node.isTagged) return node
  if (node.kind === 'scalar') return createScalar(node.position, node.value)
  if (node.kind === 'map') return resolveMapTags(node)
  return createList(
    node.position,
    node.items.flatMap((item) => resolveTags(item) ?? []),
  )
}

export function resolveMapTags(map: MapNode): MapNode {
  return mapEntries(createMap(map.position, map.entries), resolveTags)
}

export function getEntry(node: ComposeNode | undefined, key: string): ComposeNode | undefined {
  return node?.kind === 'map' ? node.entries.get(key)?.node : undefined
}

/** The text of a scalar, or undefined for everything else. */
export function getText(node: ComposeNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined
}

/** The same mapping with one entry replaced, added, or removed if the node is undefined. */
export function withEntry(map: MapNode, key: string, node: ComposeNode | undefined): MapNode {
  const entries = new Map(map.entries)
  if (node) entries.set(key, { keyPosition: map.entries.get(key)?.keyPosition ?? node.position, node })
  else entries.delete(key)
  return createMap(map.position, entries, map.tag)
}

/** Each entry of a mapping replaced by what `change` returns; undefined removes it. */
export function mapEntries(
  map: MapNode,
  change: (node: ComposeNode, key: string, entry: Entry) => ComposeNode | undefined,
): MapNode {
  const entries = new Map<string, Entry>()
  for (const [key, entry] of map.entries) {
    const node = change(entry.node, key, entry)
    if (node) entries.set(key, { keyPosition: entry.keyPosition, node })
  }
  return createMap(map.position, entries, map.tag)
}

/** Plain data, as the schema checks it. */
export function toValue(node: ComposeNode): ComposeValue {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toValue)
  return toRecord(node)
}

export function toRecord(map: MapNode): { [key: string]: ComposeValue } {
  const record: { [key: string]: ComposeValue } = {}
  for (const [key, { node }] of map.entries) {
    const value = toValue(node)
    // An assignment of this key would change the prototype. It is the exception, because defining a property is slow.
    if (key === '__proto__')
      Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true })
    else record[key] = value
  }
  return record
}

/**
 * The place of a value, or of the nearest one above it that exists. A scalar has the place of its text; a mapping or list has the place of the
 * key that names it, because its own text begins on a line below.
 */
export function findPosition(root: ComposeNode, path: ComposePath): SourcePosition {
  let node = root
  let position = root.position
  for (const step of path) {
    if (node.kind === 'map') {
      const entry = node.entries.get(String(step))
      if (!entry) return position
      node = entry.node
      position = node.kind === 'scalar' && node.value !== null ? node.position : entry.keyPosition
    } else if (node.kind === 'list') {
      const item = typeof step === 'number' ? node.items[step] : undefined
      if (!item) return position
      node = item
      position = node.position
    } else return position
  }
  return position
}

/** The place of a key, for problems that concern the key itself. */
export function findKeyPosition(root: ComposeNode, path: ComposePath): SourcePosition {
  let node: ComposeNode | undefined = root
  for (const step of path.slice(0, -1)) {
    if (node?.kind === 'map') node = node.entries.get(String(step))?.node
    else if (node?.kind === 'list' && typeof step === 'number') node = node.items[step]
    else node = undefined
  }
  const entry = node?.kind === 'map' ? node.entries.get(String(path.at(-1))) : undefined
  return entry?.keyPosition ?? findPosition(root, path)
}
