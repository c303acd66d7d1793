import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { keepTypedRows } from './config-input.ts'
import { configParts, isKeyedField, isMarkerField, markerSections, rowKey, sameValue } from './config-parts.ts'

/** `ContainerConfigPatch` of the contract. */
export type ConfigPatch = {
  config?: Partial<ContainerConfigFields>
  resetSection?: string
  revision?: number
  keys?: Record<string, string[]>
  typing?: Record<string, string[]>
}
export type PatchResult =
  | { kind: 'applied'; fields: ContainerConfigFields; changed: string[] }
  | { kind: 'conflict'; conflicts: { property: string; value: unknown }[] }

type Row = { id?: string; key: string }

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
  let next: Record<string, unknown> = { ...fields }
  for (const [field, value] of Object.entries(patch.config ?? {})) {
    if (value === undefined) continue
    next[field] = replaced(field as ContainerConfigField, fields, value, patch.keys?.[field])
  }
  next = keepTypedRows(next, fields, patch.typing)
  if (patch.resetSection) next[patch.resetSection] = null
  for (const [field, value] of Object.entries(next)) if (value === null || value === undefined) delete next[field]

  const before = configParts(fields)
  const after = configParts(next as ContainerConfigFields)
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => !sameValue(before.get(path)?.value, after.get(path)?.value) || orderDiffers(path, before, after),
  )
  const { revision } = patch
  const conflicts = revision === undefined ? [] : changed.filter((path) => (changedAt.get(path) ?? 0) > revision)
  if (conflicts.length > 0)
    return { kind: 'conflict', conflicts: conflicts.map((path) => ({ property: path, value: shown(path, before) })) }
  // An empty list is a setting of its own ("no rows"), although it has no parts.
  const emptied = Object.keys({ ...fields, ...next }).filter(
    (field) => Array.isArray(next[field]) !== Array.isArray((fields as Record<string, unknown>)[field]),
  )
  const touched = emptied.filter((field) => !changed.some((path) => path === field || path.startsWith(`${field}.`)))
  return { kind: 'applied', fields: next as ContainerConfigFields, changed: [...changed, ...touched] }
}

/** Sets the id of every row of every list. Rows keep theirs, and rows without one get the id that the same key had. */
export function fillRowIds(
  fields: ContainerConfigFields,
  before: ContainerConfigFields,
  newId: () => string,
): ContainerConfigFields {
  const fill = (value: unknown, old: unknown): unknown => {
    if (Array.isArray(value)) {
      const taken = new Set(value.map((row) => (row as Row).id).filter(Boolean))
      return value.map((row) => {
        const known = Array.isArray(old) ? old.find((other) => rowKeyOf(other) === rowKeyOf(row)) : undefined
        const inner = Object.fromEntries(
          Object.entries(row).map(([name, part]) => [name, Array.isArray(part) ? fill(part, known?.[name]) : part]),
        )
        const free = known?.id && !taken.has(known.id) ? known.id : undefined
        if (free && !row.id) taken.add(free)
        return { ...inner, id: row.id ?? free ?? newId() }
      })
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, fill(part, (old as Record<string, unknown> | null)?.[name])]),
    )
  }
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, fill(value, before[field as ContainerConfigField])]),
  )
}

function replaced(
  field: ContainerConfigField,
  fields: ContainerConfigFields,
  value: unknown,
  keys: string[] | undefined,
): unknown {
  const old = fields[field]
  if (isMarkerField(field)) {
    if (value === null) return null
    const sections = { ...(old as object | null) } as Record<string, unknown>
    for (const section of markerSections) {
      const rows = (value as Record<string, unknown>)[section]
      if (rows !== undefined) sections[section] = rows
    }
    return sections
  }
  if (!keys || !isKeyedField(field)) return value
  const named = new Set(keys)
  const given = new Map(
    ((value ?? []) as Row[]).filter((row) => named.has(rowKey(row))).map((row) => [rowKey(row), row]),
  )
  const kept = ((old ?? []) as Row[]).flatMap((row) => {
    const name = rowKey(row)
    if (!named.has(name)) return [row]
    const mine = given.get(name)
    given.delete(name)
    return mine ? [mine] : []
  })
  return [...kept, ...given.values()]
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
  return part.field === 'secrets' ? { ...(part.value as object), value: undefined } : part.value
}

function rowKeyOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  if ('key' in row || 'path' in row || 'internal' in row) return rowKey(row as Row)
  return 'name' in row ? String(row.name) : undefined
}
