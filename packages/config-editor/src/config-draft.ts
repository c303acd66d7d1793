import {
  type ContainerConfigField,
  type ContainerConfigFields,
  type ErrorDetail,
  isContainerConfigField,
} from '@crux/contract'
import {
  addedHostDangers,
  applyConfigPatch,
  isKeyedField,
  newProblems,
  sameValue,
  type ValidationOptions,
  validateConfig,
} from '@crux/rules'
import { cleaned } from './clean-rows.ts'
import {
  type Conflict,
  type Conflicts,
  changedKeys,
  type Edit,
  getField,
  getPart,
  hasBegun,
  mergeSeen,
  rebase,
  withPart,
} from './config-rows.ts'

/** The context of a layer, and the reason why this user may not add host-dangerous settings, if there is one. */
export type DraftContext = ValidationOptions & { hostDenied?: string | null }
/** A field and its new value, as the form edits it. */
export type FieldChange = { field: ContainerConfigField; value: unknown }
type Edits = Partial<Record<ContainerConfigField, Edit>>
export type Patch = {
  config?: Partial<ContainerConfigFields>
  resetSection?: ContainerConfigField
  revision?: number
  keys?: Record<string, string[]>
}

/**
 * A configuration that is being edited, in three layers: the state of the server, what was sent and is not
 * confirmed, and what is typed. `server` is always a state that the server itself sent; typed text is discarded
 * only by the user who typed it.
 */
export type ConfigDraft = {
  server: ContainerConfigFields
  /** Of `server`. Undefined if the server sends none: then its confirmations are accepted in order. */
  revision: number | undefined
  /** The newest announced revision. Nothing is sent while `server` is older: others' changes in between were not seen. */
  heard: number
  /** The channel is connected and `server` was read through it. */
  online: boolean
  /** One patch at a time; its edits are changes of `server` as it was then. Once confirmed, `server` has it from that revision on. */
  sent: { patch: Patch; edits: Edits; confirmed?: number } | null
  /** Changes of `server` with what was sent on top. */
  pending: Edits
  /** What was sent before the connection was lost: if it did arrive, it is not a change of another user. */
  unsure: Edits
  /** Parts (`environment.LOG_LEVEL`, `name`) that another user changed too; they wait for the user's choice. */
  conflicts: Conflicts
  /** What the server refused, by property; the fields named wait for another value. */
  refused: Readonly<Record<string, string>>
}

export const startDraft = (server: ContainerConfigFields, revision: number | undefined): ConfigDraft => ({
  server,
  revision,
  heard: revision ?? 0,
  online: false,
  sent: null,
  pending: {},
  unsure: {},
  conflicts: {},
  refused: {},
})

/** The values that the form shows: typed over sent over stored. */
export function shownFields(draft: ConfigDraft): ContainerConfigFields {
  const typed = listEntries(draft.pending).map(([field, edit]) => [field, edit.value])
  return { ...getEditBase(draft), ...Object.fromEntries(typed) }
}

/**
 * @param seen what the form showed when `value` was made of it. Something may have come in since; it is kept, and what was typed over
 *   without having been seen is a conflict.
 */
export function editField(draft: ConfigDraft, field: ContainerConfigField, value: unknown, seen: unknown): ConfigDraft {
  const below = getEditBase(draft)[field]
  const { base, value: current } = draft.pending[field] ?? { base: below, value: below }
  const merged = mergeSeen(field, { seen, value, current })
  const conflicts: Record<string, Conflict> = { ...draft.conflicts }
  for (const property of merged.unseen) {
    const theirs = getPart(base, property)
    // A value that differs from both was typed here in the meantime by the same user.
    if (sameValue(theirs, getPart(current, property))) conflicts[property] = { mine: null, theirs }
  }
  return withRebasedEdits({
    ...draft,
    pending: { ...draft.pending, [field]: { value: merged.value, base } },
    conflicts,
    refused: without(draft.refused, (property) => getField(property) === field),
  })
}

/** Clears a setting of this layer, and what was typed in it. */
export function resetField(draft: ConfigDraft, field: ContainerConfigField): ConfigDraft {
  const of = (property: string) => getField(property) === field
  return {
    ...draft,
    pending: { ...draft.pending, [field]: { value: null, base: getEditBase(draft)[field], reset: true } },
    conflicts: without(draft.conflicts, of),
    refused: without(draft.refused, of),
  }
}

/** Problems of the typed values, by property with the indexes of the typed rows: `environment[2].key`. */
export function findProblems(draft: ConfigDraft, context: DraftContext): ErrorDetail[] {
  const positions = new Map<string, number[]>()
  const fields = Object.fromEntries(
    Object.entries(shownFields(draft)).map(([field, value]) => {
      const clean = cleaned(field, value)
      if (clean.positions) positions.set(field, clean.positions)
      return [field, clean.value]
    }),
  )
  return [...dangerProblems(draft.server, fields, context), ...validateConfig(fields, context)].map((problem) => ({
    ...problem,
    property: problem.property.replace(/^(\w+)\[(\d+)\]/, (whole, field: string, context: string) => {
      const typed = positions.get(field)?.[Number(context)]
      return typed === undefined ? whole : `${field}[${typed}]`
    }),
  }))
}

/** What the server would reject from this user. */
const dangerProblems = (
  server: ContainerConfigFields,
  fields: ContainerConfigFields,
  { hostDenied }: DraftContext,
): ErrorDetail[] =>
  hostDenied
    ? addedHostDangers(server, fields).map(({ property, reason }) => ({
        property,
        error: 'hostDangerous',
        description: `${reason}. ${hostDenied}.`,
      }))
    : []

/** The next patch, if anything can be sent: one at a time, from a state that is known, and without fields that have a problem or a conflict. */
export function nextPatch(draft: ConfigDraft, context: DraftContext): ConfigDraft {
  if (draft.sent || !draft.online || isBehind(draft)) return draft
  const broken = newProblems(validateConfig(draft.server, context), findProblems(draft, context))
  const held = heldFields(draft, broken)
  const config: Record<string, unknown> = {}
  const keys: Record<string, string[]> = {}
  const edits: Edits = {}
  const pending: Edits = {}
  for (const [field, edit] of listEntries(draft.pending)) {
    const value = cleaned(field, edit.value).value ?? null
    // Rows that are still empty are not sent, but stay in the form.
    if (held.has(field)) pending[field] = edit
    else if (hasBegun(field, edit.value)) pending[field] = { value: edit.value, base: value }
    if (held.has(field) || sameValue(value, edit.base)) continue
    config[field] = value
    edits[field] = { ...edit, value }
    const changed = isKeyedField(field) && value !== null ? changedKeys(edit.base, value) : []
    if (changed.length > 0 && changed.length <= 100) keys[field] = changed
  }
  const { revision } = draft
  const [reset] = listEntries(edits).find(([, edit]) => edit.reset) ?? []
  if (reset) {
    const { [reset]: edit, ...others } = draft.pending
    return { ...draft, pending: others, sent: { patch: { resetSection: reset, revision }, edits: { [reset]: edit } } }
  }
  if (Object.keys(config).length === 0) return { ...draft, pending }
  const patch: Patch = { config, revision, ...(Object.keys(keys).length > 0 && { keys }) }
  return { ...draft, pending, sent: { patch, edits } }
}

/** The server has stored what was sent, as this revision or within it. */
export function patchReceived(draft: ConfigDraft, revision: number | undefined): ConfigDraft {
  if (!draft.sent) return draft
  if (draft.revision !== undefined && revision !== undefined) {
    const heard = Math.max(draft.heard, revision)
    if (draft.revision >= revision) return withRebasedEdits({ ...draft, heard, sent: null })
    return { ...draft, heard, sent: { ...draft.sent, confirmed: revision } }
  }
  const patch = { ...draft.sent.patch, revision: undefined }
  const stored = applyConfigPatch({ fields: draft.server, patch, changedAt: new Map() })
  return withRebasedEdits({ ...draft, server: stored.kind === 'applied' ? stored.fields : draft.server, sent: null })
}

/** The configuration was changed, perhaps by this page: typed values are merged into the new state part by part. */
export function configUpdated(
  draft: ConfigDraft,
  server: ContainerConfigFields,
  revision: number | undefined,
): ConfigDraft {
  // A newer update arrived before this one.
  if (revision !== undefined && draft.revision !== undefined && revision < draft.revision) return draft
  const confirmed = draft.sent?.confirmed
  const sent = confirmed !== undefined && revision !== undefined && revision >= confirmed ? null : draft.sent
  return withRebasedEdits({ ...draft, server, revision, heard: Math.max(draft.heard, revision ?? 0), sent })
}

/** The channel is connected (again), and this was read through it. */
export const linkFound = (
  draft: ConfigDraft,
  server: ContainerConfigFields,
  revision: number | undefined,
): ConfigDraft => ({ ...configUpdated({ ...draft, online: true }, server, revision), unsure: {} })

/** The connection was lost: whether the sent patch arrived is unknown. It counts as typed until the server's state is read. */
export const linkLost = (draft: ConfigDraft): ConfigDraft =>
  returnSentToPending({ ...draft, online: false, unsure: draft.sent?.edits ?? draft.unsure })

/** The server rejected the patch, because another user changed parts of it meanwhile. */
export function patchConflict(
  draft: ConfigDraft,
  found: readonly { property: string; value: unknown }[],
  revision: number,
): ConfigDraft {
  const back = returnSentToPending(draft)
  const conflicts: Record<string, Conflict> = { ...back.conflicts }
  for (const { property, value } of found) {
    const edit = findEdit(back.pending, property)
    if (!edit) continue
    const mine = getPart(edit.value, property)
    if (!sameValue(mine, getPart(edit.base, property)) && !sameValue(mine, value))
      conflicts[property] = { mine, theirs: value }
  }
  return { ...back, conflicts, heard: Math.max(back.heard, revision) }
}

/** The server refused the patch; only the fields that it names wait, the others are sent again. */
export function patchRefused(
  draft: ConfigDraft,
  details: readonly { property?: string; description: string }[],
): ConfigDraft {
  const sent = Object.keys(draft.sent?.edits ?? {})
  const named = details.map((detail) => ({ ...detail, property: (detail.property ?? '').replace(/^config\./, '') }))
  const mine = named.filter((detail) => sent.includes(getField(detail.property)))
  const refused = { ...draft.refused }
  for (const { property, description } of mine) refused[property] = description
  if (mine.length === 0) for (const field of sent) refused[field] = named[0]?.description ?? ''
  return { ...returnSentToPending(draft), refused }
}

/** What was sent is typed text again. */
export function returnSentToPending(draft: ConfigDraft): ConfigDraft {
  if (!draft.sent) return draft
  const pending: Edits = { ...draft.pending }
  const conflicts: Record<string, Conflict> = { ...draft.conflicts }
  for (const [field, edit] of listEntries(draft.sent.edits)) {
    const stored = draft.server[field]
    const again = rebase(field, edit, stored)
    Object.assign(conflicts, again.conflicts)
    const typed = draft.pending[field]
    if (typed) pending[field] = { ...typed, base: stored }
    else if (again.edit) pending[field] = again.edit
  }
  return withRebasedEdits({ ...draft, sent: null, pending, conflicts })
}

export function resolveConflict(draft: ConfigDraft, property: string, choice: 'mine' | 'theirs'): ConfigDraft {
  const { [property]: conflict, ...conflicts } = draft.conflicts
  const field = getField(property)
  const edit = findEdit(draft.pending, property)
  if (!conflict || !edit) return { ...draft, conflicts }
  const base = withPart(edit.base, property, conflict.theirs)
  const value = choice === 'mine' ? edit.value : withPart(edit.value, property, conflict.theirs)
  return { ...draft, conflicts, pending: { ...draft.pending, [field]: { ...edit, value, base } } }
}

export type SaveState = 'saved' | 'saving' | 'waiting' | 'held'
/** waiting: typed and about to be sent. held: an error or a conflict prevents sending. */
export function saveState(draft: ConfigDraft, problems: readonly ErrorDetail[]): SaveState {
  if (draft.sent) return 'saving'
  const open = listEntries(draft.pending).filter(
    ([field, edit]) => !sameValue(cleaned(field, edit.value).value, edit.base),
  )
  if (open.length === 0) return 'saved'
  const held = heldFields(draft, problems)
  return open.every(([field]) => held.has(field)) ? 'held' : 'waiting'
}

/** A revision newer than `server` was announced. */
export const isBehind = (draft: ConfigDraft): boolean => draft.revision !== undefined && draft.heard > draft.revision

/** The state that typed values are changes of. */
function getEditBase(draft: ConfigDraft): ContainerConfigFields {
  if (!draft.sent) return draft.server
  const sent = listEntries(draft.sent.edits).map(([field, edit]) => {
    const onTop = rebase(field, edit, draft.server[field]).edit
    return [field, onTop ? onTop.value : draft.server[field]]
  })
  return { ...draft.server, ...Object.fromEntries(sent) }
}

/** Rebases typed values on the current state, and drops resolved conflicts. */
function withRebasedEdits(draft: ConfigDraft): ConfigDraft {
  const below = getEditBase(draft)
  const pending: Edits = {}
  const found: Record<string, Conflict> = { ...draft.conflicts }
  for (const [field, edit] of listEntries(draft.pending)) {
    // Conflicts are not checked between two states, because the user may already have chosen for the newer one.
    const again = isBehind(draft) && !draft.sent ? { edit } : rebase(field, edit, below[field])
    Object.assign(found, 'conflicts' in again ? again.conflicts : {})
    if (again.edit) pending[field] = again.edit
  }
  const conflicts: Record<string, Conflict> = {}
  for (const [property, { theirs: reported }] of Object.entries(found)) {
    const edit = findEdit(pending, property)
    if (!edit) continue
    const mine = getPart(edit.value, property)
    const theirs = isBehind(draft) ? reported : getPart(edit.base, property)
    const arrived = findEdit(draft.unsure, property)
    if (arrived && sameValue(theirs, getPart(arrived.value, property))) continue
    if (!sameValue(mine, theirs)) conflicts[property] = { mine, theirs }
  }
  return { ...draft, pending, conflicts }
}

const heldFields = (draft: ConfigDraft, problems: readonly ErrorDetail[]): Set<string> =>
  new Set(
    [
      ...problems.map((problem) => problem.property),
      ...Object.keys(draft.refused),
      ...Object.keys(draft.conflicts),
    ].map(getField),
  )

const listEntries = (edits: Edits): [ContainerConfigField, Edit][] =>
  Object.entries(edits).flatMap(([field, edit]) => (isContainerConfigField(field) ? [[field, edit]] : []))

/** The edit of the field that a property lies in. */
function findEdit(edits: Edits, property: string): Edit | undefined {
  const field = getField(property)
  return isContainerConfigField(field) ? edits[field] : undefined
}

const without = <T>(record: Readonly<Record<string, T>>, drop: (name: string) => boolean): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !drop(name)))
