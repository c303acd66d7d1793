import type { ContainerConfigField } from '@crux/contract'
import { isKeyedField, isRecord, type JsonRecord, sameValue, toRecord } from '@crux/rules'
import { cleaned } from './clean-rows.ts'

/** `mine` and `theirs` are null if that side deleted the row or the value. */
export type Conflict = { mine: unknown; theirs: unknown }
export type Conflicts = Readonly<Record<string, Conflict>>
export type Edit = {
  value: unknown
  /** What the edit is a change of. */
  base: unknown
  /** Clears the setting of this layer as a whole. */
  reset?: true
}
type Row = JsonRecord

/** `ports[1].internal`, `environment.KEY` -> the field. */
export const getField = (property: string): string => /^\w+/.exec(property)?.[0] ?? property

/** Whether a property is `outer` or a part of it: `volumes[1].path` is one of `volumes` and of `volumes[1]`. */
export const isWithin = (property: string, outer: string): boolean =>
  property.startsWith(outer) && /^($|[.[])/.test(property.slice(outer.length))

/** The value of a field, or the row of it that `environment.LOG_LEVEL` names; null where there is none. */
export function getPart(value: unknown, property: string): unknown {
  const field = getField(property)
  if (!isKeyedField(field) || property === field) return value ?? null
  return byKey(value).get(property.slice(field.length + 1)) ?? null
}

/** The value with that part replaced; null deletes it. */
export function withPart(value: unknown, property: string, part: unknown): unknown {
  const field = getField(property)
  if (!isKeyedField(field) || property === field) return part
  const key = property.slice(field.length + 1)
  const rows = getRows(value)
  const inPlace = rows.flatMap((row) => (toKey(row) !== key ? [row] : isRecord(part) ? [{ ...part, id: row.id }] : []))
  return isRecord(part) && !rows.some((row) => toKey(row) === key) ? [...inPlace, part] : inPlace
}

/** Names of the rows that differ. */
export function changedKeys(base: unknown, value: unknown): string[] {
  const before = byKey(base)
  const after = byKey(value)
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => !sameValue(before.get(key), after.get(key)))
}

/**
 * Rebases an edit on a newer state: unchanged rows take the new state, changed rows stay as edited, and parts that both
 * sides changed are also conflicts.
 *
 * @returns no edit if the new state already contains it
 */
export function rebase(
  field: ContainerConfigField,
  edit: Edit,
  theirs: unknown,
): { edit: Edit | null; conflicts: Record<string, Conflict> } {
  if (edit.base === theirs) return { edit, conflicts: {} }
  return isKeyedField(field) ? rebaseRows(field, edit, theirs) : rebaseWhole(field, edit, theirs)
}

function rebaseWhole(field: ContainerConfigField, edit: Edit, theirs: unknown): ReturnType<typeof rebase> {
  const mine = cleaned(field, edit.value).value ?? null
  if (sameValue(mine, theirs) || sameValue(mine, edit.base)) {
    const value = withBegun(field, theirs, edit.value)
    return { edit: value === theirs ? null : { value, base: theirs }, conflicts: {} }
  }
  const conflicts = sameValue(edit.base, theirs) ? {} : { [field]: { mine, theirs: theirs ?? null } }
  return { edit: { ...edit, base: theirs }, conflicts }
}

function rebaseRows(field: ContainerConfigField, edit: Edit, theirs: unknown): ReturnType<typeof rebase> {
  const base = byKey(edit.base)
  const remote = byKey(theirs)
  const typed = getRows(edit.value)
  const typedKeys = new Set(typed.map(toKey))
  const conflicts: Record<string, Conflict> = {}
  const kept = typed.flatMap((row) => {
    const key = toKey(row)
    if (key === '') return [row]
    const before = base.get(key)
    const now = remote.get(key)
    if (before && sameValue(row, before)) return now ? [now] : []
    if (!sameValue(before, now) && !sameValue(row, now))
      conflicts[`${field}.${key}`] = { mine: row, theirs: now ?? null }
    return [row]
  })
  for (const [key, row] of remote) {
    if (typedKeys.has(key)) continue
    // Deleted here and changed there is a conflict too; a row that is unknown here is new.
    const before = base.get(key)
    if (!before) kept.push(row)
    else if (!sameValue(before, row)) conflicts[`${field}.${key}`] = { mine: null, theirs: row }
  }
  const mine = new Map(kept.toReversed().map((row) => [toKey(row), row]))
  const asTheirs = [...remote.keys()].map((key) => mine.get(key)).filter((row) => row !== undefined)
  // A page that moved nothing takes the order of the others; otherwise two pages would reorder each other forever.
  const moved = !inStep([...base.keys()], typed.map(toKey))
  const value = moved ? kept : between(asTheirs, kept)
  if (sameValue(value, theirs)) return { edit: null, conflicts }
  if (edit.value === null && value.length === 0) return { edit: { ...edit, base: theirs }, conflicts }
  return { edit: { value, base: theirs }, conflicts }
}

/**
 * Merges a change that was made to an older view into the current value.
 *
 * @returns the merged value, and the parts that had changed without having been seen
 */
export function mergeSeen(
  field: ContainerConfigField,
  { seen, value, current }: { seen: unknown; value: unknown; current: unknown },
): { value: unknown; unseen: string[] } {
  if (seen === current) return { value, unseen: [] }
  const whole = sameValue(seen, current) ? [] : [field]
  if (isRecord(value) && isRecord(seen) && isRecord(current)) {
    const changed = Object.entries(value).filter(([name, part]) => !sameValue(part, seen[name]))
    return { value: { ...current, ...Object.fromEntries(changed) }, unseen: whole }
  }
  if (!Array.isArray(value)) return { value, unseen: whole }
  const before = finder(getRows(seen))
  const now = finder(getRows(current))
  const placed = new Map<Row, Row>()
  const unseen = new Set<string>()
  const note = (row: Row) => void (toKey(row) !== '' && unseen.add(`${field}.${toKey(row)}`))
  const merged = getRows(value).flatMap((row) => {
    const old = before(row)
    const currentRow = now(row)
    const same = old === row || (old && sameValue(old, row))
    if (currentRow) placed.set(currentRow, same ? currentRow : row)
    if (same) return currentRow ? [currentRow] : []
    if (!sameValue(old, currentRow)) note(currentRow ?? row)
    return [row]
  })
  for (const row of getRows(current)) {
    if (placed.has(row)) continue
    const old = before(row)
    if (old && !sameValue(old, row)) note(row)
    if (old) continue
    merged.push(row)
    placed.set(row, row)
  }
  const asNow = getRows(current)
    .map((row) => placed.get(row))
    .filter((row) => row !== undefined)
  const moved = !inStep(getRows(seen), getRows(value).map(before))
  return { value: moved ? merged : between(asNow, merged), unseen: isKeyedField(field) ? [...unseen] : whole }
}

/** Whether there are new rows that are still empty. */
export function hasBegun(field: ContainerConfigField, value: unknown): boolean {
  const [all, full] = [rowsIn(value), rowsIn(cleaned(field, value).value)]
  return all.length > full.length
}

/** The stored value, followed by the empty rows of the typed one. */
function withBegun(field: ContainerConfigField, stored: unknown, typed: unknown): unknown {
  const full = new Set(rowsIn(cleaned(field, typed).value))
  const begun = rowsIn(typed).filter((row) => !full.has(row))
  if (begun.length === 0) return stored
  if (Array.isArray(typed)) return [...getRows(stored), ...begun]
  return { ...toRecord(typed), ...toRecord(stored), options: [...rowsIn(stored), ...begun] }
}

/** The rows of a list, or those inside of a value such as the log driver's. */
const rowsIn = (value: unknown): Row[] => getRows(isRecord(value) && 'options' in value ? value.options : value)

/** The rows of a list; of anything else, none. */
export const getRows = (value: unknown): Row[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const byKey = (value: unknown): Map<string, Row> => new Map(getRows(value).map((row) => [toKey(row), row]))

/** Like `rowKey` of the rules, and '' for an empty row. */
export function toKey(row: Row): string {
  if (row.key !== undefined) return String(row.key)
  if (row.path !== undefined) return String(row.path ?? '')
  const { internal, protocol } = row
  if (typeof internal === 'number') return Number.isNaN(internal) ? '' : `${internal}/${protocol ?? 'tcp'}`
  const { from, to } = toRecord(internal)
  const isNumber = (end: unknown) => typeof end === 'number' && !Number.isNaN(end)
  return isNumber(from) && isNumber(to) ? `${from}-${to}` : ''
}

/** Whether the rows that both lists have are in the same order. */
function inStep(left: readonly unknown[], right: readonly unknown[]): boolean {
  const [known, wanted] = [new Set(left), new Set(right)]
  const both = left.filter((item) => wanted.has(item))
  return right.filter((item) => known.has(item)).every((item, at) => item === both[at])
}

/** The ordered rows, with each other row after its previous predecessor. */
function between(ordered: readonly Row[], all: readonly Row[]): Row[] {
  // Rows by their predecessor; undefined for those at the front.
  const behind = new Map<Row | undefined, Row[]>()
  const fixed = new Set(ordered)
  let last: Row | undefined
  for (const row of all) {
    if (fixed.has(row)) last = row
    else behind.set(last, [...(behind.get(last) ?? []), row])
  }
  return [...(behind.get(undefined) ?? []), ...ordered.flatMap((row) => [row, ...(behind.get(row) ?? [])])]
}

/** Finds the same row in a list: by its id, which stays while its key is typed, else by its key. */
function finder(rows: readonly Row[]): (row: Row) => Row | undefined {
  const ids = new Map(rows.map((row) => [row.id, row]))
  const keys = new Map(rows.map((row) => [toKey(row), row]))
  return (row) => (row.id ? ids.get(row.id) : undefined) ?? (toKey(row) === '' ? undefined : keys.get(toKey(row)))
}
