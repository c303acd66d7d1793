import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, Scalar, type YAMLMap } from 'yaml'
import type { SourcePosition } from '../model.ts'
import { type Budget, limits } from './limits.ts'
import {
  type ComposeNode,
  createList,
  createMap,
  createScalar,
  type Entry,
  type MapNode,
  type MergeTag,
} from './nodes.ts'
import type { ProblemList } from './problems.ts'
import { resolveScalar } from './resolve-scalar.ts'

type Tools = {
  toPosition: (offset: number) => SourcePosition
  budget: Budget
  problems: ProblemList
}

type Builder = Tools & {
  /** The last anchor of each name; null while its own value is being read. */
  anchors: Map<string, ComposeNode | null>
  failed: boolean
}

/** Nodes with aliases, merge keys and tags resolved; undefined if one of them is wrong, which is then a problem. */
export function buildNodes(contents: unknown, tools: Tools): ComposeNode | undefined {
  if (contents === null || contents === undefined) return undefined
  const builder: Builder = { ...tools, anchors: new Map(), failed: false }
  const root = buildNode(contents, 0, builder)
  return builder.failed ? undefined : root
}

function fail(builder: Builder, position: SourcePosition, message: string): ComposeNode {
  builder.failed = true
  builder.problems.error(position, [], message)
  return createScalar(position, null)
}

function buildNode(node: unknown, offset: number, builder: Builder): ComposeNode {
  if (isAlias(node)) return buildAlias(node, builder)
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) {
    builder.budget.readNodes(1)
    return createScalar(builder.toPosition(offset), null)
  }
  builder.budget.readNodes(1)
  const start = node.range?.[0] ?? offset
  const position = builder.toPosition(start)
  const kind = isScalar(node) ? 'scalar' : isMap(node) ? 'map' : 'list'
  const tag = readTag(node.tag, kind)
  if (tag === 'unknown')
    return fail(
      builder,
      position,
      `The tag "${shortTag(node.tag ?? '')}" is unknown. Remove it; Compose knows !reset and !override.`,
    )
  if (node.anchor) builder.anchors.set(node.anchor, null)
  const built = isScalar(node)
    ? createScalar(position, readScalar(node, builder, position), tag)
    : isMap(node)
      ? buildMap(node, position, tag, builder)
      : createList(
          position,
          node.items.map((item) => buildNode(item, start, builder)),
          tag,
        )
  if (built.depth > limits.depth)
    return fail(builder, position, `With its aliases, this value has more than ${limits.depth} levels. Nest it less.`)
  if (node.anchor) builder.anchors.set(node.anchor, built)
  return built
}

function buildAlias(alias: Alias, builder: Builder): ComposeNode {
  const position = builder.toPosition(alias.range?.[0] ?? 0)
  const target = builder.anchors.get(alias.source)
  if (target === undefined)
    return fail(
      builder,
      position,
      `There is no anchor "&${alias.source}" above this line. Define it before it is used.`,
    )
  if (target === null)
    return fail(builder, position, `The alias "*${alias.source}" is inside of its own anchor. Remove it there.`)
  builder.budget.readNodes(target.size)
  return target
}

function buildMap(node: YAMLMap, position: SourcePosition, tag: MergeTag | undefined, builder: Builder): MapNode {
  const entries = new Map<string, Entry>()
  const merges: ComposeNode[] = []
  for (const pair of node.items) {
    const key = readKey(pair, builder)
    if (!key) continue
    const value = buildNode(pair.value, key.end, builder)
    if (key.isMerge) {
      merges.push(value)
      continue
    }
    const earlier = entries.get(key.text)
    if (earlier)
      fail(
        builder,
        key.position,
        `The key "${key.text}" is already in line ${earlier.keyPosition.line}. Remove one of the two.`,
      )
    else entries.set(key.text, { keyPosition: key.position, node: value })
  }
  for (const merged of merges) mergeInto(entries, merged, builder)
  return createMap(position, entries, tag)
}

/** Adds the entries of a merge key; keys of the mapping itself, and of earlier mappings of a list, are stronger. */
function mergeInto(entries: Map<string, Entry>, merged: ComposeNode, builder: Builder): void {
  const maps = merged.kind === 'list' ? merged.items : [merged]
  for (const map of maps) {
    if (map.kind !== 'map') {
      fail(
        builder,
        map.position,
        'A merge key "<<" takes a mapping, or a list of mappings. Use an alias such as "*name".',
      )
      return
    }
    for (const [key, entry] of map.entries) if (!entries.has(key)) entries.set(key, entry)
  }
}

type Key = { text: string; isMerge: boolean; position: SourcePosition; end: number }

function readKey(pair: Pair, builder: Builder): Key | undefined {
  const { key } = pair
  if (!isScalar(key)) {
    const position = builder.toPosition(rangeStart(key))
    fail(builder, position, 'A key must be text on one line. Put quotes around it if it contains special characters.')
    return undefined
  }
  const [start, end] = [key.range?.[0] ?? 0, key.range?.[1] ?? 0]
  const position = builder.toPosition(start)
  const source = key.source ?? ''
  if (source.length > limits.keyLength) {
    fail(builder, position, `A key has at most ${limits.keyLength.toLocaleString('en')} characters. Shorten it.`)
    return undefined
  }
  const isPlain = key.type === Scalar.PLAIN
  if (isPlain && typeof resolveScalar(source) !== 'string') {
    fail(builder, position, `A key must be text. Put quotes around "${source}".`)
    return undefined
  }
  return { text: source, isMerge: isPlain && source === '<<', position, end }
}

const rangeStart = (node: unknown): number => {
  const parsed = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node : undefined
  return parsed?.range?.[0] ?? 0
}

function readScalar(node: Scalar, builder: Builder, position: SourcePosition): string | number | boolean | null {
  const text = node.source ?? ''
  const isTagged = node.tag && node.tag !== '!reset' && node.tag !== '!override'
  if (!isTagged) return node.type === Scalar.PLAIN ? resolveScalar(text) : text
  return readTagged(shortTag(node.tag ?? ''), text, builder, position)
}

/** A scalar with a tag of YAML itself, such as `!!str 80`. */
function readTagged(tag: string, text: string, builder: Builder, position: SourcePosition) {
  const value = resolveScalar(text)
  if (tag === '!!str' || tag === '!') return text
  const fits =
    tag === '!!null'
      ? value === null
      : tag === '!!bool'
        ? typeof value === 'boolean'
        : typeof value === 'number' && (tag === '!!float' || Number.isInteger(value))
  if (fits) return value
  fail(builder, position, `"${text.slice(0, 40)}" does not fit its tag "${tag}". Remove the tag.`)
  return null
}

const yamlPrefix = 'tag:yaml.org,2002:'
const shortTag = (tag: string) => (tag.startsWith(yamlPrefix) ? `!!${tag.slice(yamlPrefix.length)}` : tag)

const knownTags = {
  scalar: ['!', '!!str', '!!null', '!!bool', '!!int', '!!float'],
  map: ['!', '!!map'],
  list: ['!', '!!seq'],
}

function readTag(tag: string | undefined, kind: ComposeNode['kind']): MergeTag | 'unknown' | undefined {
  if (!tag) return undefined
  if (tag === '!reset') return 'reset'
  if (tag === '!override') return 'override'
  return knownTags[kind].includes(shortTag(tag)) ? undefined : 'unknown'
}
