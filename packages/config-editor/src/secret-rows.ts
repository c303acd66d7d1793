import type { ContainerConfigFields } from '@crux/contract'

export type Secret = NonNullable<ContainerConfigFields['secrets']>[number]
/** The keys that the node and other deployments of the prefix have; undefined until the server has sent them. */
export type KnownSecrets = { keys: readonly string[]; publicKey: string | null; shared: readonly string[] }

/**
 * The state of the value of a key: on the node already, sealed for it, inherited from a lower layer or from another deployment of the
 * prefix, to be entered again since the node's key changed, required and missing, or not set.
 */
export type SecretState = 'on-node' | 'sealed' | 'below' | 'shared' | 'stale' | 'missing' | 'unset'

/** A key as the section lists it. A locked key comes from a lower layer and cannot be removed here. */
export type SecretRow = {
  key: string
  required: boolean
  locked: boolean
  own: Secret | undefined
  state: SecretState
  /** The group of generated values that it belongs to. */
  group: string | undefined
}

/** Keys of the layers below first, in their order, then those that this layer adds. */
export function secretRows(
  own: readonly Secret[],
  below: readonly Secret[],
  known: KnownSecrets | undefined,
): SecretRow[] {
  const mine = new Map(own.map((row) => [row.key, row]))
  const lower = new Map(below.map((row) => [row.key, row]))
  return [...lower.keys(), ...own.map((row) => row.key).filter((key) => !lower.has(key))].map((key) => {
    const [row, base] = [mine.get(key), lower.get(key)]
    const required = Boolean(row?.required || base?.required)
    const group = row?.generate ?? base?.generate
    return {
      key,
      required,
      locked: base !== undefined,
      own: row,
      state: getState(key, required, row, base, known),
      group,
    }
  })
}

function getState(
  key: string,
  required: boolean,
  own: Secret | undefined,
  below: Secret | undefined,
  known: KnownSecrets | undefined,
): SecretState {
  // No warning is shown until the server has sent the node's key.
  const readable = (row: Secret) => !known || row.publicKey === known.publicKey
  const set = (state: 'sealed' | 'below' | 'shared') => (known?.keys.includes(key) ? 'on-node' : state)
  for (const [row, state] of [[own, 'sealed'] as const, [below, 'below'] as const]) {
    if (row?.value) return readable(row) ? set(state) : 'stale'
    if (row?.publicKey) return 'stale'
  }
  if (known?.shared.includes(key)) return set('shared')
  return required ? 'missing' : 'unset'
}

/** A key that is typed here and not stored yet. */
export type AddedSecret = { id: string; key: string; value: string }
/** What is typed and not saved: in the memory of this page, and nowhere else. */
export type TypedSecrets = {
  /** New values by key. */
  values: ReadonlyMap<string, string>
  added: readonly AddedSecret[]
  /** Keys whose row of this layer is deleted. */
  removed: ReadonlySet<string>
}

export const noTypedSecrets: TypedSecrets = { values: new Map(), added: [], removed: new Set() }

export const hasTypedSecrets = ({ values, added, removed }: TypedSecrets): boolean =>
  removed.size > 0 ||
  [...values.values()].some((value) => value !== '') ||
  added.some(({ key, value }) => key !== '' || value !== '')

/** A new value of a listed key, which is then not deleted; null takes the typed value away. */
export function withSecretValue(typed: TypedSecrets, key: string, value: string | null): TypedSecrets {
  const values = new Map(typed.values)
  if (value === null) values.delete(key)
  else values.set(key, value)
  return { ...typed, values, removed: withoutKey(typed.removed, key) }
}

/** Marks the row of a key for deletion, or keeps it; what was typed for the key is discarded. */
export function withSecretRemoved(typed: TypedSecrets, key: string, remove: boolean): TypedSecrets {
  const values = new Map(typed.values)
  values.delete(key)
  return { ...typed, values, removed: remove ? new Set([...typed.removed, key]) : withoutKey(typed.removed, key) }
}

/** A change of a row that was added here; null removes it. */
export function withAddedSecret(typed: TypedSecrets, id: string, part: Partial<AddedSecret> | null): TypedSecrets {
  const added = part
    ? typed.added.map((row) => (row.id === id ? { ...row, ...part } : row))
    : typed.added.filter((row) => row.id !== id)
  return { ...typed, added }
}

const withoutKey = (keys: ReadonlySet<string>, key: string) => new Set([...keys].filter((other) => other !== key))

/** Pairs that were pasted: known keys get their values, others become new rows. */
export function withSecretPairs(
  typed: TypedSecrets,
  pairs: readonly { key: string; value: string }[],
  listed: ReadonlySet<string>,
  newId: () => string,
): TypedSecrets {
  const values = new Map(typed.values)
  const removed = new Set(typed.removed)
  const added = typed.added.filter(({ key, value }) => key !== '' || value !== '')
  for (const { key, value } of pairs) {
    removed.delete(key)
    const begun = added.findIndex((row) => row.key === key)
    if (listed.has(key)) values.set(key, value)
    else if (begun >= 0) added[begun] = { id: added[begun]?.id ?? newId(), key, value }
    else added.push({ id: newId(), key, value })
  }
  return { values, added, removed }
}

/** What is wrong with the keys that were added, by row id. */
export function findAddedSecretProblems(
  typed: TypedSecrets,
  listed: ReadonlySet<string>,
): ReadonlyMap<string, 'empty' | 'twice' | 'form'> {
  const problems = new Map<string, 'empty' | 'twice' | 'form'>()
  const seen = new Set(listed)
  for (const { id, key, value } of typed.added) {
    if (key === '' && value === '') continue
    if (key === '') problems.set(id, 'empty')
    else if (/[\s=]/.test(key)) problems.set(id, 'form')
    else if (seen.has(key)) problems.set(id, 'twice')
    seen.add(key)
  }
  return problems
}

/** A change of one row as it is sent; without a row the key is deleted from this layer. Values are not encrypted yet. */
export type SecretChange = { key: string; row?: { id?: string; required: boolean; text: string } }

export function toSecretChanges(typed: TypedSecrets, own: readonly Secret[]): SecretChange[] {
  const stored = new Map(own.map((row) => [row.key, row]))
  const changes: SecretChange[] = [...typed.removed].map((key) => ({ key }))
  for (const [key, text] of typed.values) {
    if (text === '') continue
    const row = stored.get(key)
    changes.push({ key, row: { ...(row?.id && { id: row.id }), required: row?.required ?? false, text } })
  }
  for (const { id, key, value } of typed.added)
    if (key !== '') changes.push({ key, row: { id, required: false, text: value } })
  return changes
}

/** What is left of what is typed once these changes are stored; text that was typed meanwhile stays. */
export function withoutSentSecrets(typed: TypedSecrets, sent: readonly SecretChange[]): TypedSecrets {
  const stored = new Map(sent.map(({ key, row }) => [key, row?.text]))
  const isStored = (key: string, text: string) => stored.has(key) && stored.get(key) === text
  return {
    values: new Map([...typed.values].filter(([key, text]) => !isStored(key, text))),
    added: typed.added.filter(({ key, value }) => !isStored(key, value)),
    removed: new Set([...typed.removed].filter((key) => !stored.has(key))),
  }
}

/** Typed keys whose stored row changed since typing started: saving would overwrite that change. */
export function findOverwrittenSecrets(
  typed: TypedSecrets,
  seen: readonly Secret[],
  own: readonly Secret[],
): ReadonlySet<string> {
  const [before, now] = [seen, own].map((rows) => new Map(rows.map((row) => [row.key, row.value ?? ''])))
  const keys = [...typed.removed, ...[...typed.values].flatMap(([key, text]) => (text === '' ? [] : [key]))]
  return new Set(keys.filter((key) => before?.get(key) !== now?.get(key)))
}
