import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { keepTypedRows } from './config-input.ts'
import { configParts, fieldsIn, isKeyedField, isMarkerField, rowKey, rowsIn, sameValue } from './config-parts.ts'
import { isRecord, toRecord } from './json-record.ts'

/** `ContainerConfigPatch` of the contract. */
export type ConfigPatch = {
  config?: Partial<ContainerConfigFields>
  resetSection?: ContainerConfigField
  revision?: number
  keys?: Record<string, string[]>
  typing?: Record<string, string[]>
}
export type PatchResult =
  | { kind: 'applied'; fields: ContainerConfigFields; changed: string[] }
  | { kind: 'conflict'; conflicts: { property: string; value: unknown }[] }

/**
 * Applies a patch: whole fields are replaced, null clears, `labels` and `annotations` are merged by section. `keys` limits a list to the named rows:
 * a named row that the patch omits is removed, and all others stay. Rows whose ids are in `typing` stay as they are.
 *
 * @param changedAt the revision that last changed a part; with `patch.revision`, a part that changed later is a conflict, unless its value is already
 * the same
 * @returns the new fields and the parts that changed (`environment.LOG_LEVEL`), or the current values of the parts in conflict
 */
export function applyConfigPatch(input: {
  fields: ContainerConfigFields
  patch: ConfigPatch
  changedAt: ReadonlyMap<string, number>
}): PatchResult {
  const { fields, patch, changedAt } = input
  const patched: ContainerConfigFields = { ...fields }
  const given = patch.config ?? {}
  for (const field of fieldsIn(given))
    if (given[field] !== undefined)
      Object.assign(patched, { [field]: replaced(field, fields, given, patch.keys?.[field]) })
  const next = keepTypedRows(patched, fields, patch.typing)
  if (patch.resetSection) next[patch.resetSection] = null
  for (const field of fieldsIn(next)) if (next[field] === null || next[field] === undefined) delete next[field]

  const before = configParts(fields)
  const after = configParts(next)
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => !sameValue(before.get(path)?.value, after.get(path)?.value) || orderDiffers(path, before, after),
  )
  const { revision } = patch
  const conflicts = revision === undefined ? [] : changed.filter((path) => (changedAt.get(path) ?? 0) > revision)
  if (conflicts.length > 0)
    return { kind: 'conflict', conflicts: conflicts.map((path) => ({ property: path, value: shown(path, before) })) }
  // An empty list is a setting of its own ("no rows"), although it has no parts.
  const emptied = fieldsIn({ ...fields, ...next }).filter(
    (field) => Array.isArray(next[field]) !== Array.isArray(fields[field]),
  )
  const touched = emptied.filter((field) => !changed.some((path) => path === field || path.startsWith(`${field}.`)))
  return { kind: 'applied', fields: next, changed: [...changed, ...touched] }
}

/** Sets the id of every row of every list. Rows keep theirs, and rows without one get the id that the same key had. */
export function fillRowIds(
  fields: ContainerConfigFields,
  before: ContainerConfigFields,
  newId: () => string,
): ContainerConfigFields {
  const fill = (value: unknown, old: unknown): unknown => {
    if (Array.isArray(value)) {
      const taken = new Set(value.map((row) => row.id).filter(Boolean))
      return value.map((row) => {
        const known = Array.isArray(old) ? old.find((other) => getRowKey(other) === getRowKey(row)) : undefined
        const inner = Object.fromEntries(
          Object.entries(row).map(([name, part]) => [name, Array.isArray(part) ? fill(part, known?.[name]) : part]),
        )
        const free = known?.id && !taken.has(known.id) ? known.id : undefined
        if (free && !row.id) taken.add(free)
        return { ...inner, id: row.id ?? free ?? newId() }
      })
    }
    if (!isRecord(value)) return value
    const known = toRecord(old)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fill(part, known[name])]))
  }
  return Object.fromEntries(fieldsIn(fields).map((field) => [field, fill(fields[field], before[field])]))
}

function replaced(
  field: ContainerConfigField,
  fields: ContainerConfigFields,
  given: ContainerConfigFields,
  keys: string[] | undefined,
): unknown {
  if (isMarkerField(field)) {
    const sections = Object.entries(given[field] ?? {}).filter(([, rows]) => rows !== undefined)
    return given[field] && { ...fields[field], ...Object.fromEntries(sections) }
  }
  if (!keys || !isKeyedField(field)) return given[field]
  const named = new Set(keys)
  const mine = new Map(rowsIn(given, field).map((row) => [rowKey(row), row]))
  const known = new Set(rowsIn(fields, field).map(rowKey))
  return [
    ...rowsIn(fields, field).flatMap((row) => (named.has(rowKey(row)) ? (mine.get(rowKey(row)) ?? []) : row)),
    ...[...mine].flatMap(([key, row]) => (named.has(key) && !known.has(key) ? row : [])),
  ]
}

/** Rows of `networks` and similar fields are ordered: a changed order counts as a change of the moved rows. */
function orderDiffers(path: string, before: Map<string, unknown>, after: Map<string, unknown>): boolean {
  const field = path.split('.', 1)[0] ?? ''
  if (!isKeyedField(field)) return false
  const inField = (parts: Map<string, unknown>) => [...parts.keys()].filter((name) => name.startsWith(`${field}.`))
  const left = inField(before).filter((name) => after.has(name))
  const right = inField(after).filter((name) => before.has(name))
  return left.indexOf(path) !== right.indexOf(path)
}

function shown(path: string, before: ReturnType<typeof configParts>): unknown {
  const part = before.get(path)
  if (!part) return null
  return part.field === 'secrets' ? { ...toRecord(part.value), value: undefined } : part.value
}

/** Rows of init containers and similar lists are known by their name. */
function getRowKey(row: unknown): unknown {
  if (!isRecord(row)) return undefined
  if (isRecord(row.internal)) return `${row.internal.from}-${row.internal.to}`
  if (row.internal !== undefined) return `${row.internal}/${row.protocol ?? 'tcp'}`
  return row.key ?? row.path ?? row.name
}
