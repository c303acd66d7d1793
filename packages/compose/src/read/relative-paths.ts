import { resolvePath } from './file-paths.ts'
import { type ComposeNode, createList, createScalar, type MapNode, mapEntries, withEntry } from './nodes.ts'

// Paths in a file that is included or extended are relative to its directory. They are made relative to the directory of the first file.

type Rebase = (path: string) => string

/** A service of a file in another directory. */
export function rebasePaths(service: ComposeNode, directory: string): ComposeNode {
  if (directory === '' || service.kind !== 'map') return service
  const rebase = (path: string) => resolvePath(directory, path)
  return mapEntries(service, (node, key) => {
    if (key === 'env_file') return rebaseEach(node, (item) => rebaseText(item, 'path', rebase))
    if (key === 'label_file') return rebaseEach(node, (item) => rebaseText(item, undefined, rebase))
    if (key === 'volumes') return rebaseEach(node, (item) => rebaseVolume(item, rebase))
    return node
  })
}

/** Everything that an included file in another directory defines. */
export function rebaseProject(root: MapNode, directory: string): MapNode {
  if (directory === '') return root
  return mapEntries(root, (area, name) => {
    if (area.kind !== 'map') return area
    if (name === 'services') return mapEntries(area, (service) => rebasePaths(service, directory))
    if (name !== 'configs' && name !== 'secrets') return area
    return mapEntries(area, (item) => rebaseText(item, 'file', (path) => resolvePath(directory, path)))
  })
}

function rebaseEach(node: ComposeNode, change: (item: ComposeNode) => ComposeNode): ComposeNode {
  return node.kind === 'list' ? createList(node.position, node.items.map(change), node.tag) : change(node)
}

/** Text, or the text of one key of a mapping. */
function rebaseText(node: ComposeNode, key: string | undefined, rebase: Rebase): ComposeNode {
  if (node.kind === 'scalar' && typeof node.value === 'string')
    return createScalar(node.position, rebase(node.value), node.tag)
  const inner = key !== undefined && node.kind === 'map' ? node.entries.get(key)?.node : undefined
  if (key === undefined || node.kind !== 'map' || inner?.kind !== 'scalar' || typeof inner.value !== 'string')
    return node
  return withEntry(node, key, createScalar(inner.position, rebase(inner.value), inner.tag))
}

/** Only a source that begins with a dot is a relative path; other names are volumes. */
function rebaseVolume(node: ComposeNode, rebase: Rebase): ComposeNode {
  const rebaseSource = (source: string) => {
    const path = rebase(source)
    return path.startsWith('.') || path.startsWith('/') ? path : `./${path}`
  }
  if (node.kind === 'scalar' && typeof node.value === 'string') {
    const [source = '', ...rest] = node.value.split(':')
    if (!source.startsWith('.') || rest.length === 0) return node
    return createScalar(node.position, [rebaseSource(source), ...rest].join(':'), node.tag)
  }
  const source = node.kind === 'map' ? node.entries.get('source')?.node : undefined
  const isRelative = source?.kind === 'scalar' && typeof source.value === 'string' && source.value.startsWith('.')
  return isRelative ? rebaseText(node, 'source', rebaseSource) : node
}
