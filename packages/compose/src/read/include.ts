import type { ComposePath, SourceFile, SourcePosition } from '../model.ts'
import type { ReadContext } from './context.ts'
import { readEnvFile } from './env-file.ts'
import { applyExtends } from './extends.ts'
import { getDirectory, resolvePath } from './file-paths.ts'
import { limits } from './limits.ts'
import { mergeMaps, mergeNodes } from './merge.ts'
import {
  type ComposeNode,
  createMap,
  type Entry,
  getEntry,
  getText,
  type MapNode,
  resolveMapTags,
  withEntry,
} from './nodes.ts'
import { rebaseProject } from './relative-paths.ts'
import { resolveVariables } from './service-variables.ts'
import type { Lookup } from './substitute.ts'
import { makeItemsUnique } from './unique-items.ts'

const areas = ['services', 'jobs', 'volumes', 'networks', 'secrets', 'configs', 'models']

/** What reaches a file: the files that include it, and their variables. */
type Includer = { context: ReadContext; variables: Lookup; chain: readonly string[] }

/** Files merged in their order, each with what it includes and with what its services extend. Undefined if none could be read. */
export function loadFiles(files: readonly SourceFile[], includer: Includer): MapNode | undefined {
  const { context, variables } = includer
  let merged: MapNode | undefined
  for (const file of files) {
    const root = context.readFile(file, variables)
    if (!root) continue
    const whole = applyIncludes(root, file, { ...includer, chain: [...includer.chain, file.name] })
    const extended = applyExtends(whole, file.name, variables, context)
    merged = merged ? mergeMaps(merged, extended, [], context) : resolveMapTags(extended)
  }
  if (!merged) return undefined
  // Extended services share their values until here, and what follows would visit each of them.
  context.budget.checkSize(merged.size, merged.textLength)
  const services = getEntry(merged, 'services')
  if (services?.kind === 'map') context.budget.checkServices(services.entries.size)
  const unique = services?.kind === 'map' ? withEntry(merged, 'services', makeItemsUnique(services)) : merged
  return resolveVariables(unique, variables)
}

function applyIncludes(root: MapNode, file: SourceFile, includer: Includer): MapNode {
  const list = getEntry(root, 'include')
  let merged = withEntry(root, 'include', undefined)
  // What has another form is a problem of the schema, which the caller checks with the entry in place.
  if (list?.kind !== 'list') return list ? root : merged
  for (const [index, item] of list.items.entries()) {
    const included = loadInclude(item, ['include', index], file, includer)
    if (included) merged = importAreas(included, merged, includer.context)
  }
  return merged
}

function loadInclude(
  item: ComposeNode,
  path: ComposePath,
  file: SourceFile,
  { context, variables, chain }: Includer,
): MapNode | undefined {
  const { problems } = context
  // Files that include the same ones again and again would never end otherwise.
  context.budget.createNodes(20)
  const paths = listTexts(getEntry(item, 'path') ?? item)
  if (paths.length === 0) {
    problems.error(item.position, path, '"include" needs the path of a file: "- path/to/compose.yaml".')
    return undefined
  }
  const directory = getDirectory(file.name)
  const files: SourceFile[] = []
  for (const { text, position } of paths) {
    const found = context.findFile(directory, text)
    if (!found) {
      problems.error(position, path, `The included file ${text} is not among the given files. Add it under this name.`)
      return undefined
    }
    if (chain.includes(found.name)) {
      const circle = [...chain.slice(chain.indexOf(found.name)), found.name].join(' -> ')
      problems.error(position, path, `Files include each other in a circle: ${circle}. Remove one "include".`)
      return undefined
    }
    files.push(found)
  }
  if (chain.length >= limits.includeDepth) {
    problems.error(item.position, path, `More than ${limits.includeDepth} files include each other in a row.`)
    return undefined
  }
  const chosen = getText(getEntry(item, 'project_directory'))
  const project = chosen === undefined ? getDirectory(files[0]?.name ?? '') : resolvePath(directory, chosen)
  const inner = readVariables(item, directory, project, path, { context, variables, chain })
  const loaded = loadFiles(files, { context, variables: inner, chain })
  return loaded && rebaseProject(loaded, project)
}

/** Variables of an included file: those of the file that includes it, then those of its own `.env` files. */
function readVariables(
  item: ComposeNode,
  directory: string,
  project: string,
  path: ComposePath,
  { context, variables }: Includer,
): Lookup {
  const named = listTexts(getEntry(item, 'env_file'))
  const files: SourceFile[] = []
  for (const { text, position } of named) {
    const found = context.findEnvFile(directory, text)
    if (found) files.push(found)
    else if (text !== '/dev/null')
      context.problems.error(
        position,
        path,
        `The file ${text} is not among the given .env files. Add it under this name.`,
      )
  }
  if (named.length === 0 && project !== '') {
    const own = context.findEnvFile('', `${project}/.env`)
    if (own) files.push(own)
  }
  if (files.length === 0) return variables
  const values = new Map<string, string>()
  for (const file of files) {
    const lookup = (name: string) => variables(name) ?? values.get(name)
    for (const [name, value] of readEnvFile(file, { ...context, lookup, path })) values.set(name, value)
  }
  return (name) => variables(name) ?? values.get(name)
}

function listTexts(node: ComposeNode | undefined): { text: string; position: SourcePosition }[] {
  const items = node?.kind === 'list' ? node.items : node ? [node] : []
  return items.flatMap((item) => {
    const text = getText(item)
    return text === undefined ? [] : [{ text, position: item.position }]
  })
}

/** Adds what an included file defines; where both define the same, the including file is stronger. */
function importAreas(included: MapNode, root: MapNode, context: ReadContext): MapNode {
  let merged = root
  for (const area of areas) {
    const from = getEntry(included, area)
    const to = getEntry(merged, area)
    if (from?.kind !== 'map') continue
    if (to && to.kind !== 'map') continue
    const entries = new Map<string, Entry>(to?.entries)
    for (const [name, entry] of from.entries) {
      const own = entries.get(name)
      const node = own ? mergeNodes(entry.node, own.node, [area, name], context) : entry.node
      if (node) entries.set(name, { keyPosition: own?.keyPosition ?? entry.keyPosition, node })
      else entries.delete(name)
    }
    context.budget.createNodes(entries.size)
    merged = withEntry(merged, area, createMap(to?.position ?? from.position, entries))
  }
  return merged
}
