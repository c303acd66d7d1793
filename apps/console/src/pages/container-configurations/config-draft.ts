import type { ContainerConfigField, ContainerConfigFields, ErrorDetail } from '@crux/contract'
import { applyConfigPatch, isKeyedField, newProblems, rowKey, sameValue, validateConfig } from '@crux/rules'
import { cleaned } from './clean-rows.ts'

type Row = { id?: string; key: string }
type Edit = {
  value: unknown
  /** What stood on the server when the edit began: what the edit is a change of. */
  base: unknown
}
type Edits = Partial<Record<ContainerConfigField, Edit>>
export type Conflict = { mine: unknown; theirs: unknown }
export type Patch = {
  config?: Partial<ContainerConfigFields>
  resetSection?: ContainerConfigField
  revision?: number
  keys?: Record<string, string[]>
}

/**
 * A configuration while people type in it (ui.md U13.3, decision 20). What the server has, what was sent and is not confirmed,
 * what is not sent yet; typed text is only ever given up by the person who typed it.
 */
export type ConfigDraft = {
  server: ContainerConfigFields
  revision: number | undefined
  pending: Edits
  sent: { patch: Patch; edits: Edits } | null
  /** Parts (`environment.LOG_LEVEL`, `name`) that somebody else changed too; they wait for a choice. */
  conflicts: Readonly<Record<string, Conflict>>
  /** What the server refused, by property; the fields named wait for another value. */
  refused: Readonly<Record<string, string>>
}

export const startDraft = (server: ContainerConfigFields, revision: number | undefined): ConfigDraft => ({
  server,
  revision,
  pending: {},
  sent: null,
  conflicts: {},
  refused: {},
})

/** What the form shows: typed over sent over stored. */
export function shownFields(draft: ConfigDraft): ContainerConfigFields {
  const typed = Object.entries({ ...draft.sent?.edits, ...draft.pending }).map(([field, edit]) => [field, edit.value])
  return { ...draft.server, ...Object.fromEntries(typed) }
}

export function editField(draft: ConfigDraft, field: ContainerConfigField, value: unknown): ConfigDraft {
  const base = draft.pending[field]?.base ?? draft.sent?.edits[field]?.value ?? draft.server[field]
  return {
    ...draft,
    pending: { ...draft.pending, [field]: { value, base } },
    refused: without(draft.refused, (property) => fieldOf(property) === field),
  }
}

/** Problems of what is typed, by property with the places of the typed rows: `environment[2].key`. */
export function findProblems(draft: ConfigDraft, prefix: string | undefined): ErrorDetail[] {
  const shown = shownFields(draft)
  const places = new Map<string, number[]>()
  const fields = Object.fromEntries(
    Object.entries(shown).map(([field, value]) => {
      const clean = cleaned(field as ContainerConfigField, value)
      if (clean.places) places.set(field, clean.places)
      return [field, clean.value]
    }),
  )
  return validateConfig(fields, { prefix }).map((problem) => ({
    ...problem,
    property: problem.property.replace(/^(\w+)\[(\d+)\]/, (whole, field: string, place: string) => {
      const typed = places.get(field)?.[Number(place)]
      return typed === undefined ? whole : `${field}[${typed}]`
    }),
  }))
}

/** The next patch, if anything can be sent: not while one is on its way, and without fields that have a problem or a conflict. */
export function nextPatch(draft: ConfigDraft, prefix: string | undefined): ConfigDraft {
  if (draft.sent) return draft
  const broken = newProblems(validateConfig(draft.server, { prefix }), findProblems(draft, prefix))
  const held = new Set(
    [...broken.map((problem) => problem.property), ...Object.keys(draft.refused), ...Object.keys(draft.conflicts)].map(
      fieldOf,
    ),
  )
  const config: Record<string, unknown> = {}
  const keys: Record<string, string[]> = {}
  const edits: Edits = {}
  const pending: Edits = {}
  for (const [name, edit] of Object.entries(draft.pending)) {
    const field = name as ContainerConfigField
    const value = cleaned(field, edit.value).value ?? null
    if (held.has(field)) {
      pending[field] = edit
      continue
    }
    if (sameValue(value, edit.base)) {
      // Rows that are still empty are nothing to send, but stay to be filled.
      if (Array.isArray(edit.value) && Array.isArray(value) && edit.value.length > value.length) pending[field] = edit
      continue
    }
    config[field] = value
    edits[field] = { value: edit.value, base: edit.base }
    const changed = isKeyedField(field) && value !== null ? changedKeys(edit.base, value) : []
    if (changed.length > 0 && changed.length <= 100) keys[field] = changed
  }
  if (Object.keys(config).length === 0) return { ...draft, pending }
  const patch: Patch = { config, revision: draft.revision, ...(Object.keys(keys).length > 0 && { keys }) }
  return { ...draft, pending, sent: { patch, edits } }
}

/** Clears a setting of this layer at once, and what was typed in it. Only while nothing is on its way. */
export function resetField(draft: ConfigDraft, field: ContainerConfigField): ConfigDraft {
  const { [field]: _, ...pending } = draft.pending
  const clear = {
    pending,
    refused: without(draft.refused, (property) => fieldOf(property) === field),
    conflicts: without(draft.conflicts, (property) => fieldOf(property) === field),
  }
  if (draft.sent)
    return {
      ...draft,
      ...clear,
      pending: { ...pending, [field]: { value: null, base: draft.sent.edits[field]?.value ?? draft.server[field] } },
    }
  return {
    ...draft,
    ...clear,
    sent: {
      patch: { resetSection: field, revision: draft.revision },
      edits: { [field]: { value: null, base: draft.server[field] } },
    },
  }
}

/** The server has stored what was sent. */
export function patchReceived(draft: ConfigDraft, revision: number | undefined): ConfigDraft {
  if (!draft.sent) return draft
  const stored = applyConfigPatch({
    fields: draft.server,
    patch: { ...draft.sent.patch, revision: undefined },
    changedAt: new Map(),
  })
  const server = stored.kind === 'applied' ? stored.fields : draft.server
  return { ...draft, server, revision: revision ?? draft.revision, sent: null, pending: keepEmptyRows(draft) }
}

/** Somebody (perhaps this page) changed it: what was typed here is put on top of the new state, part by part. */
export function configUpdated(
  draft: ConfigDraft,
  server: ContainerConfigFields,
  revision: number | undefined,
): ConfigDraft {
  // An update that is older than what is known, for instance one that crossed a confirmation.
  if (revision !== undefined && draft.revision !== undefined && revision < draft.revision) return draft
  const conflicts: Record<string, Conflict> = { ...draft.conflicts }
  const pending: Edits = {}
  for (const [name, edit] of Object.entries(draft.pending)) {
    const field = name as ContainerConfigField
    const rebased = rebase(field, edit, server[field], conflicts)
    if (rebased) pending[field] = rebased
  }
  return { ...draft, server, revision, pending, conflicts }
}

/** The server did not take the patch, because parts of it were changed by somebody else meanwhile. */
export function patchConflict(
  draft: ConfigDraft,
  found: readonly { property: string; value: unknown }[],
  revision: number,
): ConfigDraft {
  const back = takeBack(draft)
  const shown = shownFields(back)
  const conflicts = { ...back.conflicts }
  for (const { property, value } of found) {
    const mine = partOf(shown, property)
    if (!sameValue(mine, value)) conflicts[property] = { mine, theirs: value }
  }
  return { ...back, conflicts, revision }
}

/** The server refused the patch; only the fields that it names wait, the others are sent again. */
export function patchRefused(
  draft: ConfigDraft,
  details: readonly { property?: string; description: string }[],
): ConfigDraft {
  const sent = Object.keys(draft.sent?.edits ?? draft.pending)
  const named = details.map((detail) => ({ ...detail, property: (detail.property ?? '').replace(/^config\./, '') }))
  const mine = named.filter((detail) => sent.includes(fieldOf(detail.property)))
  const refused = { ...draft.refused }
  for (const { property, description } of mine.length > 0 ? mine : []) refused[property] = description
  if (mine.length === 0) for (const field of sent) refused[field] = named[0]?.description ?? ''
  return { ...takeBack(draft), refused }
}

/** The link is gone: whether the sent patch arrived is not known. It is typed text again until the server's state says more. */
export const linkLost = (draft: ConfigDraft): ConfigDraft => (draft.sent ? takeBack(draft) : draft)

export function resolveConflict(draft: ConfigDraft, property: string, choice: 'mine' | 'theirs'): ConfigDraft {
  const { [property]: conflict, ...conflicts } = draft.conflicts
  if (!conflict) return draft
  const field = fieldOf(property) as ContainerConfigField
  const edit = draft.pending[field]
  if (!edit) return { ...draft, conflicts }
  const base = isKeyedField(field) ? draft.server[field] : conflict.theirs
  if (choice === 'mine') return { ...draft, conflicts, pending: { ...draft.pending, [field]: { ...edit, base } } }
  if (!isKeyedField(field)) {
    const { [field]: _, ...pending } = draft.pending
    return { ...draft, conflicts, pending, server: { ...draft.server, [field]: conflict.theirs } }
  }
  const key = property.slice(field.length + 1)
  const mine = rowsOf(edit.value)
  const theirs = conflict.theirs as Row | null
  const value = mine.flatMap((row) => (rowKey(row) === key ? (theirs ? [{ ...theirs, id: row.id }] : []) : [row]))
  if (theirs && !mine.some((row) => rowKey(row) === key)) value.push(theirs)
  return { ...draft, conflicts, pending: { ...draft.pending, [field]: { value, base } } }
}

export type SaveState = 'saved' | 'saving' | 'waiting' | 'held'
/** waiting: typed and about to be sent. held: something keeps it from being sent. */
export function saveState(draft: ConfigDraft, problems: readonly ErrorDetail[]): SaveState {
  if (draft.sent) return 'saving'
  const open = Object.entries(draft.pending).filter(
    ([field, edit]) => !sameValue(cleaned(field as ContainerConfigField, edit.value).value, edit.base),
  )
  if (open.length === 0) return 'saved'
  const held = new Set(
    [
      ...problems.map((problem) => problem.property),
      ...Object.keys(draft.refused),
      ...Object.keys(draft.conflicts),
    ].map(fieldOf),
  )
  return open.every(([field]) => held.has(field)) ? 'held' : 'waiting'
}

/** `ports[1].internal`, `environment.KEY` -> the field. */
export const fieldOf = (property: string): string => /^\w+/.exec(property)?.[0] ?? property

function takeBack(draft: ConfigDraft): ConfigDraft {
  if (!draft.sent) return draft
  const pending: Edits = { ...draft.sent.edits }
  for (const [name, edit] of Object.entries(draft.pending)) {
    const field = name as ContainerConfigField
    pending[field] = { value: edit.value, base: pending[field]?.base ?? edit.base }
  }
  return { ...draft, sent: null, pending }
}

/** After a confirmation, rows that were begun and are still empty stay in the form. */
function keepEmptyRows(draft: ConfigDraft): Edits {
  const pending = { ...draft.pending }
  for (const [name, edit] of Object.entries(draft.sent?.edits ?? {})) {
    const field = name as ContainerConfigField
    const clean = cleaned(field, edit.value).value
    if (pending[field] || !Array.isArray(edit.value) || !Array.isArray(clean) || edit.value.length === clean.length)
      continue
    pending[field] = { value: edit.value, base: clean }
  }
  return pending
}

/** My edit on top of their state; undefined when nothing of it is left to say. */
function rebase(
  field: ContainerConfigField,
  edit: Edit,
  theirs: unknown,
  conflicts: Record<string, Conflict>,
): Edit | undefined {
  const mine = cleaned(field, edit.value).value ?? null
  if (!isKeyedField(field)) {
    if (sameValue(mine, theirs)) return undefined
    if (sameValue(edit.base, theirs) || sameValue(mine, edit.base)) return sameValue(mine, edit.base) ? undefined : edit
    conflicts[field] = { mine, theirs: theirs ?? null }
    return { ...edit, base: theirs }
  }
  const base = byKey(edit.base)
  const remote = byKey(theirs)
  const typed = rowsOf(edit.value)
  const typedKeys = new Set(typed.map((row) => safeKey(row)))
  const value = typed.flatMap((row) => {
    const key = safeKey(row)
    const before = base.get(key)
    const now = remote.get(key)
    if (key === '' || !before) {
      if (key !== '' && now && !sameValue(now, row)) conflicts[`${field}.${key}`] = { mine: row, theirs: now }
      return [row]
    }
    if (sameValue(row, before)) return now ? [now] : []
    if (!sameValue(before, now) && !sameValue(row, now))
      conflicts[`${field}.${key}`] = { mine: row, theirs: now ?? null }
    return [row]
  })
  for (const [key, row] of remote) {
    if (typedKeys.has(key)) continue
    // Taken out here and changed there: that is a conflict too; unknown here: it is new.
    const before = base.get(key)
    if (!before) value.push(row)
    else if (!sameValue(before, row)) conflicts[`${field}.${key}`] = { mine: null, theirs: row }
  }
  return sameValue(value, theirs) ? undefined : { value, base: theirs }
}

function changedKeys(base: unknown, value: unknown): string[] {
  const before = byKey(base)
  const after = byKey(value)
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => !sameValue(before.get(key), after.get(key)))
}

function partOf(fields: ContainerConfigFields, property: string): unknown {
  const field = fieldOf(property) as ContainerConfigField
  if (!isKeyedField(field) || property === field) return fields[field] ?? null
  return byKey(fields[field]).get(property.slice(field.length + 1)) ?? null
}

const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? (value as Row[]) : [])
const byKey = (value: unknown): Map<string, Row> => new Map(rowsOf(value).map((row) => [safeKey(row), row]))
/** A row that is only begun has no key yet. */
const safeKey = (row: Row): string => ('key' in row ? row.key : rowKey(row))

const without = <T>(record: Readonly<Record<string, T>>, drop: (name: string) => boolean): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !drop(name)))
