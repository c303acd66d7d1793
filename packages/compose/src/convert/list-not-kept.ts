import type { ComposePath, ComposeValue } from '../model.ts'
import type { KeyRule } from './key-table.ts'
import { isComposeRecord } from './values.ts'

type Table = Readonly<Record<string, KeyRule>>

/**
 * Walks over a value and reports each key that the table does not keep. Extension keys (`x-...`) have no meaning in Compose, so nothing is lost with
 * them. A key that the table does not know is reported too: a newer schema must not make it disappear.
 *
 * @param at the path of the value in the table, with `*` for names and indexes
 */
export function listNotKept(
  value: ComposeValue,
  table: Table,
  report: (path: ComposePath, reason: string) => void,
  { at = '', path = [] }: { at?: string; path?: ComposePath } = {},
): void {
  const children = at === '' ? '' : `${at}.`
  const isNamed = hasEntry(table, `${children}*`)
  for (const [key, inner] of toMembers(value)) {
    if (!isNamed && typeof key === 'string' && key.startsWith('x-')) continue
    const below = [...path, key]
    const name = `${children}${isNamed ? '*' : key}`
    const rule = isNamed ? (getRule(table, name) ?? 'kept') : getRule(table, name)
    if (rule === 'kept') {
      if (hasEntry(table, `${name}.`)) listNotKept(inner, table, report, { at: name, path: below })
    } else if (rule === undefined) report(below, `Crux does not know the key ${key}`)
    else if (!losesNothing(inner, rule)) report(below, rule.reason)
  }
}

const getRule = (table: Table, name: string): KeyRule | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** The starts of all keys of each table, because every key of every service is looked up. */
const startsByTable = new WeakMap<Table, ReadonlySet<string>>()

/** Whether the table has keys that begin with a path and its dot, or with a path and `*`. */
function hasEntry(table: Table, start: string): boolean {
  let starts = startsByTable.get(table)
  if (!starts) {
    starts = new Set(
      Object.keys(table).flatMap((key) => [...key.matchAll(/[.*]/g)].map(({ index }) => key.slice(0, index + 1))),
    )
    startsByTable.set(table, starts)
  }
  return starts.has(start)
}

const toMembers = (value: ComposeValue): readonly (readonly [string | number, ComposeValue])[] => {
  if (Array.isArray(value)) return [...value.entries()]
  return isComposeRecord(value) ? Object.entries(value) : []
}

/** Whether the value says what Crux does anyway. Where that is true, false asks for something. */
function losesNothing(value: ComposeValue, { same = [] }: Exclude<KeyRule, 'kept'>): boolean {
  if (same.some((known) => known === value)) return true
  return isNeutral(value) && !(same.includes(true) && value !== null)
}

/** Values that ask for nothing. */
function isNeutral(value: ComposeValue): boolean {
  if (value === null || value === false || value === 'false' || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isComposeRecord(value) && Object.keys(value).length === 0
}
