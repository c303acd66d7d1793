/** Where the cursor is in a YAML text, as far as its indentation tells. */
export type YamlCursor = {
  /** Keys and indexes of the mapping that a key belongs to, or of the value that is written. */
  path: readonly (string | number)[]
  /** Whether a key or a value is expected. */
  expects: 'key' | 'value'
  /** What is typed of it, before the cursor. */
  typed: string
  /** Keys that the same mapping has on other lines. */
  siblings: ReadonlySet<string>
}

/** A line as far as its structure matters. `items` are the columns of the dashes of list items that begin on it. */
type Line = { items: number[]; column: number; key: string | null; value: string }

const linePattern =
  /^(\s*(?:-\s+)*)(?:("[^"]*"|'[^']*'|[^\s#'"[\]{},&*!|>%@`-][^#:]*?|-[^\s#:][^#:]*?)\s*:(?=\s|$)\s*(.*)|(.*))$/

/**
 * Finds the path at a position by indentation, because a syntax tree has no path for a line that is still being typed. Flow collections and
 * block scalars have no hints: null.
 *
 * @param line counts from 0
 * @param column counts from 0
 */
export function findYamlCursor(lines: readonly string[], line: number, column: number): YamlCursor | null {
  const before = (lines[line] ?? '').slice(0, column)
  if (/\t/.test(before) || /(^|\s)#/.test(before) || isInBlockScalar(lines, line)) return null
  const current = parseLine(before)
  if (current.key === null) {
    if (/[{}[\]"'&*|>]/.test(current.value)) return null
    const { path, siblings } = climb(lines, line, { ...current, value: '' })
    return { path, expects: 'key', typed: current.value, siblings }
  }
  if (/[{}[\]"'&*|>\s]/.test(current.value)) return null
  const { path } = climb(lines, line, current)
  return { path: [...path, current.key], expects: 'value', typed: current.value, siblings: new Set() }
}

/** The path of the key at a position; null if there is none. */
export function findYamlKey(
  lines: readonly string[],
  line: number,
  column: number,
): readonly (string | number)[] | null {
  const current = parseLine(lines[line] ?? '')
  if (current.key === null || isInBlockScalar(lines, line)) return null
  if (column < current.column || column > current.column + current.key.length) return null
  return [...climb(lines, line, current).path, current.key]
}

/** The path of the mapping that a line belongs to, and its other keys. */
function climb(lines: readonly string[], line: number, current: Line) {
  const path: (string | number)[] = []
  const siblings = new Set<string>()
  /** The column of the mapping or list whose parent is looked for. */
  let inner: { kind: 'mapping' | 'list'; column: number } = { kind: 'mapping', column: current.column }
  const enterLists = (items: readonly number[], at: number) => {
    for (const dash of items.toReversed()) {
      if (dash >= inner.column) continue
      path.unshift(countItems(lines, at, dash))
      inner = { kind: 'list', column: dash }
    }
  }
  enterLists(current.items, line)
  for (let at = line - 1; at >= 0; at--) {
    if (isBlank(lines[at] ?? '')) continue
    const { items, column, key, value } = parseLine(lines[at] ?? '')
    if (key !== null && path.length === 0 && column === current.column) siblings.add(key)
    // A list may be as far left as the key that it belongs to.
    const isParent = column < inner.column || (inner.kind === 'list' && column === inner.column && items.length === 0)
    if (key !== null && isParent && value.replace(/^[&!]\S+/, '') === '') {
      path.unshift(key)
      inner = { kind: 'mapping', column }
    }
    enterLists(items, at)
  }
  for (const text of lines.slice(line + 1)) {
    if (isBlank(text)) continue
    const below = parseLine(text)
    if (below.column < current.column || below.items.length > 0) break
    if (below.key !== null && below.column === current.column) siblings.add(below.key)
  }
  return { path, siblings }
}

/** How many items of the same list are above the dash in this line. */
function countItems(lines: readonly string[], line: number, dash: number): number {
  let count = 0
  for (let at = line - 1; at >= 0; at--) {
    const text = lines[at] ?? ''
    if (isBlank(text)) continue
    const above = parseLine(text)
    if (above.items.includes(dash)) count++
    else if ((above.items[0] ?? above.column) <= dash) break
  }
  return count
}

/** Whether a line belongs to the text of a `|` or `>` above it. */
function isInBlockScalar(lines: readonly string[], line: number): boolean {
  let limit = indentation(lines[line] ?? '')
  for (let at = line - 1; at >= 0 && limit > 0; at--) {
    const text = lines[at] ?? ''
    if (isBlank(text) || indentation(text) >= limit) continue
    limit = indentation(text)
    if (/(^|[\s:])[|>][+-]?\d?[+-]?\s*(#.*)?$/.test(text)) return true
  }
  return false
}

/** A longer line is no key that someone types; the pattern takes quadratic time. */
const lineLengthMax = 500

function parseLine(text: string): Line {
  const [, lead = '', quoted, value = '', rest = ''] = linePattern.exec(text.slice(0, lineLengthMax)) ?? []
  const items = [...lead.matchAll(/-/g)].map(({ index }) => index)
  const key = quoted === undefined ? null : quoted.replace(/^(["'])(.*)\1$/, '$2')
  return { items, column: lead.length, key, value: key === null ? rest : value.replace(/\s+#.*$/, '') }
}

const indentation = (text: string) => text.length - text.trimStart().length
const isBlank = (text: string) => text.trim() === '' || text.trimStart().startsWith('#')
