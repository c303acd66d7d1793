import type { SourcePosition } from '../model.ts'
import { type ComposeNode, createList, createMap, createScalar, type Entry, type MapNode } from './nodes.ts'

// Several settings may be written as text, a list or a mapping. To merge them, both sides get the same form.

/** `KEY=value` entries and mappings as a mapping; undefined for what is neither. */
export function toKeyValues(node: ComposeNode): MapNode | undefined {
  if (node.kind === 'map') return node
  if (isEmpty(node)) return createMap(node.position, new Map())
  if (node.kind !== 'list') return undefined
  const entries = new Map<string, Entry>()
  for (const item of node.items) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string') return undefined
    const equals = item.value.indexOf('=')
    const key = equals < 0 ? item.value : item.value.slice(0, equals)
    const value = equals < 0 ? null : item.value.slice(equals + 1)
    entries.set(key, { keyPosition: item.position, node: createScalar(item.position, value) })
  }
  return createMap(node.position, entries)
}

/** A name, a list of names, or a mapping as a mapping by name. `value` is what a name alone stands for. */
export function toNamed(node: ComposeNode, value: (position: SourcePosition) => ComposeNode): MapNode | undefined {
  if (node.kind === 'map') return node
  if (isEmpty(node)) return createMap(node.position, new Map())
  const items = node.kind === 'list' ? node.items : [node]
  const entries = new Map<string, Entry>()
  for (const item of items) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string') return undefined
    entries.set(item.value, { keyPosition: item.position, node: value(item.position) })
  }
  return createMap(node.position, entries)
}

/** Text, a list, or a mapping of text as a list; a mapping becomes `key=value`. */
export function toSequence(node: ComposeNode): readonly ComposeNode[] {
  if (node.kind === 'list') return node.items
  if (isEmpty(node)) return []
  if (node.kind === 'scalar') return [node]
  return [...node.entries].flatMap(([key, { keyPosition, node: value }]) =>
    (value.kind === 'list' ? value.items : [value]).map((item) =>
      createScalar(keyPosition, item.kind === 'scalar' && item.value !== null ? `${key}=${item.value}` : key),
    ),
  )
}

/** `build: ./path` as `build: {context: ./path}`. */
export function toBuild(node: ComposeNode): MapNode | undefined {
  if (node.kind === 'map') return node
  if (node.kind === 'list') return undefined
  const entries = new Map<string, Entry>()
  if (node.value !== null) entries.set('context', { keyPosition: node.position, node })
  return createMap(node.position, entries)
}

/** A dependency that is given by its name alone. */
export function createDependency(position: SourcePosition): MapNode {
  const entry = (value: string | boolean): Entry => ({ keyPosition: position, node: createScalar(position, value) })
  return createMap(
    position,
    new Map([
      ['condition', entry('service_started')],
      ['required', entry(true)],
    ]),
  )
}

export const createNull = (position: SourcePosition): ComposeNode => createScalar(position, null)

export const isEmpty = (node: ComposeNode): boolean => node.kind === 'scalar' && node.value === null

/** Items of both lists; an item that is equal to an earlier one is left out. */
export function appendItems(
  position: SourcePosition,
  base: readonly ComposeNode[],
  added: readonly ComposeNode[],
  toKey: (node: ComposeNode) => string,
): ComposeNode {
  const keys = new Set(base.map(toKey))
  const rest = added.filter((item) => {
    const key = toKey(item)
    if (keys.has(key)) return false
    keys.add(key)
    return true
  })
  return createList(position, [...base, ...rest])
}
