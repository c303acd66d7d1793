import type { Budget } from './limits.ts'
import {
  appendItems,
  createDependency,
  createNull,
  isEmpty,
  toBuild,
  toKeyValues,
  toNamed,
  toSequence,
} from './merge-forms.ts'
import { type ComposeNode, createMap, type Entry, getText, type MapNode, resolveTags, toValue } from './nodes.ts'
import type { ProblemList } from './problems.ts'

type Tools = { budget: Budget; problems: ProblemList }
type Path = readonly string[]

/** How a setting is merged that is neither a plain mapping nor a plain list. */
type Rule =
  | 'replace'
  | 'key-values'
  | 'sequence'
  | 'networks'
  | 'dependencies'
  | 'build'
  | 'logging'
  | 'ulimit'
  | 'subnets'

const serviceRules: Record<string, Rule> = {
  annotations: 'key-values',
  build: 'build',
  'build.additional_contexts': 'key-values',
  'build.args': 'key-values',
  'build.extra_hosts': 'sequence',
  'build.labels': 'key-values',
  command: 'replace',
  depends_on: 'dependencies',
  'deploy.labels': 'key-values',
  dns: 'sequence',
  dns_opt: 'sequence',
  dns_search: 'sequence',
  entrypoint: 'replace',
  env_file: 'sequence',
  environment: 'key-values',
  extra_hosts: 'sequence',
  'healthcheck.test': 'replace',
  label_file: 'sequence',
  labels: 'key-values',
  logging: 'logging',
  models: 'networks',
  networks: 'networks',
  sysctls: 'key-values',
  tmpfs: 'sequence',
}

function findRule([area, name, ...rest]: Path): Rule | undefined {
  if (name === undefined || rest.length === 0) return undefined
  const setting = rest.join('.')
  if (area === 'services' || area === 'jobs')
    return rest[0] === 'ulimits' && rest.length === 2 ? 'ulimit' : serviceRules[setting]
  if (setting === 'labels') return 'key-values'
  return area === 'networks' && setting === 'ipam.config' ? 'subnets' : undefined
}

/**
 * A node overridden by another, by the merge rules of the Compose Specification: mappings are merged, lists appended without equal items, other
 * values replaced, with the exceptions of `serviceRules`. `!override` replaces and `!reset` removes, whatever the value is.
 */
export function mergeNodes(base: ComposeNode, over: ComposeNode, path: Path, tools: Tools): ComposeNode | undefined {
  if (over.tag === 'reset') return undefined
  if (over.tag === 'override') return resolveTags(over)
  tools.budget.createNodes(1)
  const rule = findRule(path)
  if (rule) return mergeByRule(rule, base, over, path, tools) ?? conflict(base, over, path, tools)
  if (isEmpty(over)) return base
  if (isEmpty(base)) return over
  if (base.kind === 'map' && over.kind === 'map') return mergeMaps(base, over, path, tools)
  if (base.kind === 'list' && over.kind === 'list') return append(base.items, over.items, over, tools)
  return base.kind === over.kind ? over : conflict(base, over, path, tools)
}

export function mergeMaps(base: MapNode, over: MapNode, path: Path, tools: Tools): MapNode {
  tools.budget.createNodes(base.entries.size)
  const entries = new Map<string, Entry>(base.entries)
  for (const [key, entry] of over.entries) {
    const earlier = entries.get(key)
    const node = earlier ? mergeNodes(earlier.node, entry.node, [...path, key], tools) : resolveTags(entry.node)
    // A mapping stays where it was begun; its values are where they were set.
    const { keyPosition } = earlier && node?.kind === 'map' ? earlier : entry
    if (node) entries.set(key, { keyPosition, node })
    else entries.delete(key)
  }
  return createMap(base.position, entries)
}

function mergeByRule(
  rule: Rule,
  base: ComposeNode,
  over: ComposeNode,
  path: Path,
  tools: Tools,
): ComposeNode | undefined {
  const merge = (from: MapNode | undefined, to: MapNode | undefined) => from && to && mergeMaps(from, to, path, tools)
  switch (rule) {
    case 'replace':
      return over
    case 'key-values':
      return merge(toKeyValues(base), toKeyValues(over))
    case 'networks':
      return merge(toNamed(base, createNull), toNamed(over, createNull))
    case 'dependencies':
      return merge(toNamed(base, createDependency), toNamed(over, createDependency))
    case 'build':
      return merge(toBuild(base), toBuild(over))
    case 'sequence':
      return append(toSequence(base), toSequence(over), over, tools)
    case 'ulimit':
      return base.kind === 'map' && over.kind === 'map' ? mergeMaps(base, over, path, tools) : over
    case 'logging':
      return mergeLogging(base, over, path, tools)
    case 'subnets':
      return mergeSubnets(base, over, path, tools)
  }
}

/** Options of another driver are not kept. */
function mergeLogging(base: ComposeNode, over: ComposeNode, path: Path, tools: Tools): ComposeNode | undefined {
  if (isEmpty(over)) return base
  if (base.kind !== 'map' || over.kind !== 'map') return isEmpty(base) ? over : undefined
  const [before, after] = [base, over].map((node) => getText(node.entries.get('driver')?.node))
  if (before !== undefined && after !== undefined && before !== after) return over
  return mergeMaps(base, over, path, tools)
}

/** Entries of the same subnet are merged. */
function mergeSubnets(base: ComposeNode, over: ComposeNode, path: Path, tools: Tools): ComposeNode | undefined {
  if (isEmpty(over)) return base
  if (base.kind !== 'list' || over.kind !== 'list') return isEmpty(base) ? over : undefined
  const getSubnet = (node: ComposeNode) => (node.kind === 'map' ? getText(node.entries.get('subnet')?.node) : undefined)
  const added = new Map(over.items.map((item) => [getSubnet(item), item]))
  const merged = base.items.map((item) => {
    const subnet = getSubnet(item)
    const other = subnet === undefined ? undefined : added.get(subnet)
    if (item.kind !== 'map' || other?.kind !== 'map') return item
    added.delete(subnet)
    return mergeMaps(item, other, path, tools)
  })
  return append(merged, [...added.values()], over, tools)
}

function append(base: readonly ComposeNode[], added: readonly ComposeNode[], over: ComposeNode, tools: Tools) {
  tools.budget.createNodes(base.length + added.length)
  const kept = added.flatMap((item) => resolveTags(item) ?? [])
  return appendItems(over.position, base, kept, describeValue)
}

/** Nodes are never changed, so an item is written once, however many files add items after it. */
const described = new WeakMap<ComposeNode, string>()

function describeValue(node: ComposeNode): string {
  const known = described.get(node)
  if (known !== undefined) return known
  const text = JSON.stringify(toValue(node))
  described.set(node, text)
  return text
}

function conflict(base: ComposeNode, over: ComposeNode, path: Path, { problems }: Tools): ComposeNode {
  problems.error(
    over.position,
    path,
    `"${path.join('.')}" is ${describeKind(over)} here and ${describeKind(base)} in line ${base.position.line} of ${base.position.file}. Use the same form in both, or "!override".`,
  )
  return base
}

export const describeKind = ({ kind }: ComposeNode): string =>
  kind === 'map' ? 'a mapping' : kind === 'list' ? 'a list' : 'a single value'
