import type { SourcePosition } from '../model.ts'
import type { ReadContext } from './context.ts'
import { getDirectory } from './file-paths.ts'
import { limits } from './limits.ts'
import { mergeMaps } from './merge.ts'
import { type ComposeNode, createMap, type Entry, getEntry, getText, type MapNode, withEntry } from './nodes.ts'
import { rebasePaths } from './relative-paths.ts'
import type { Lookup } from './substitute.ts'

/** The services of one file, in which `extends` looks for names. */
type Source = { file: string; services: ReadonlyMap<string, Entry>; done: Map<string, ComposeNode> }

type Extender = {
  context: ReadContext
  variables: Lookup
  sources: Map<string, Source>
  /** The service for which problems are reported. */
  service: string
}

type Reference = { service: string; file: string | undefined; position: SourcePosition }

/** The services of a file, each merged over the service that it extends. */
export function applyExtends(root: MapNode, file: string, variables: Lookup, context: ReadContext): MapNode {
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') return root
  context.budget.checkServices(services.entries.size)
  const source: Source = { file, services: services.entries, done: new Map() }
  const sources = new Map([[file, source]])
  const entries = new Map<string, Entry>()
  for (const [name, entry] of services.entries) {
    const extender: Extender = { context, variables, sources, service: name }
    entries.set(name, { ...entry, node: extendService(source, name, entry.node, [], extender) })
  }
  return withEntry(root, 'services', createMap(services.position, entries, services.tag))
}

function extendService(
  source: Source,
  name: string,
  node: ComposeNode,
  chain: readonly string[],
  extender: Extender,
): ComposeNode {
  const done = source.done.get(name)
  if (done) return done
  const reference = readReference(node)
  if (!reference || node.kind !== 'map') return node
  const { context, service } = extender
  const fail = (message: string) => {
    context.problems.error(reference.position, ['services', service, 'extends'], message)
    return withEntry(node, 'extends', undefined)
  }
  const key = `${source.file}: ${name}`
  if (chain.includes(key)) {
    const circle = [...chain.slice(chain.indexOf(key)), key].map((link) => link.replace(`${source.file}: `, ''))
    return fail(`Services extend each other in a circle: ${circle.join(' -> ')}. Remove one "extends".`)
  }
  if (chain.length >= limits.extendsDepth)
    return fail(`More than ${limits.extendsDepth} services extend each other in a row. Extend fewer.`)
  const target = reference.file === undefined ? source : findSource(source, reference.file, extender)
  if (!target)
    return fail(`The file ${reference.file} is not among the given files. Add it under this name, or remove "extends".`)
  const base = target.services.get(reference.service)?.node
  if (!base) return fail(`There is no service "${reference.service}" in ${target.file}. Check the name in "extends".`)
  const extended = extendService(target, reference.service, base, [...chain, key], extender)
  const rebased = target === source ? extended : rebasePaths(extended, getDirectory(target.file))
  const merged = mergeOver(rebased, withEntry(node, 'extends', undefined), extender)
  source.done.set(name, merged)
  return merged
}

function mergeOver(base: ComposeNode, service: MapNode, { context, service: name }: Extender): ComposeNode {
  if (base.kind !== 'map') return service
  const merged = mergeMaps(base, service, ['services', name], context)
  return createMap(service.position, merged.entries, service.tag)
}

function readReference(node: ComposeNode): Reference | undefined {
  const extension = getEntry(node, 'extends')
  const service = getText(extension) ?? getText(getEntry(extension, 'service'))
  // What has another form is a problem of the schema.
  if (!extension || service === undefined) return undefined
  return { service, file: getText(getEntry(extension, 'file')), position: extension.position }
}

function findSource(from: Source, path: string, { context, variables, sources }: Extender): Source | undefined {
  const file = context.findFile(getDirectory(from.file), path)
  if (!file) return undefined
  const known = sources.get(file.name)
  if (known) return known
  const services = getEntry(context.readFile(file, variables), 'services')
  const source = { file: file.name, services: services?.kind === 'map' ? services.entries : new Map(), done: new Map() }
  sources.set(file.name, source)
  return source
}
