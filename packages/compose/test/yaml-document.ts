import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { ComposeDocument, ComposePath, ComposeValue, SourcePosition } from '../src/index.ts'

/** A document from one plain file, for tests of what comes after reading: nothing is checked, and of variables only `$$` is read. */
export function parseYamlDocument(text: string, file = 'compose.yaml'): ComposeDocument {
  const lineCounter = new LineCounter()
  const yaml = parseDocument(text, { lineCounter, merge: true })
  visit(yaml, {
    Scalar: (key, node) => {
      if (key !== 'key' && typeof node.value === 'string') node.value = node.value.replaceAll('$$', () => '$')
    },
  })
  const root: { [key: string]: ComposeValue } = yaml.toJS() ?? {}
  return {
    value: root,
    position: (path) => findPosition(yaml.contents, path, { file, lineCounter }),
    envFileVariables: {},
    invalidServices: new Set(),
  }
}

/** The place of the key of a mapping, or of the item of a list. */
function findPosition(
  contents: unknown,
  path: ComposePath,
  { file, lineCounter }: { file: string; lineCounter: LineCounter },
): SourcePosition {
  let offset = 0
  let node = contents
  for (const part of path) {
    let found: { value: unknown; start: Node | undefined } | undefined
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === part)
      if (pair && isScalar(pair.key)) found = { value: pair.value, start: pair.key }
    } else if (isSeq(node)) {
      const item = node.items[Number(part)]
      if (isMap(item) || isSeq(item) || isScalar(item)) found = { value: item, start: item }
    }
    if (!found) break
    node = found.value
    offset = found.start?.range?.[0] ?? offset
  }
  const { line, col } = lineCounter.linePos(offset)
  return { file, line: Math.max(1, line), column: Math.max(1, col) }
}
