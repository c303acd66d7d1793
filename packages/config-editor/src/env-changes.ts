import type { EnvPair } from './env-file.ts'

type Row = { id?: string; key: string; value: string | null }
export type EnvChange = {
  key: string
  kind: 'added' | 'changed' | 'same' | 'removed'
  from?: string | null
  to?: string
}

/**
 * Computes how a file changes a layer's variables.
 *
 * @param shown the merged values of the layer and lower layers, by key
 * @param replace whether variables of this layer that the file does not name are deleted
 */
export function envChanges(
  own: readonly Row[],
  shown: ReadonlyMap<string, string | null>,
  pairs: readonly EnvPair[],
  replace: boolean,
): EnvChange[] {
  const named = new Set(pairs.map((pair) => pair.key))
  const changes = pairs.map(({ key, value }): EnvChange => {
    const before = shown.get(key)
    if (before === undefined) return { key, kind: 'added', to: value }
    return before === value ? { key, kind: 'same', to: value } : { key, kind: 'changed', from: before, to: value }
  })
  const gone = replace ? own.filter((row) => row.key !== '' && !named.has(row.key)) : []
  return [...changes, ...gone.map(({ key, value }): EnvChange => ({ key, kind: 'removed', from: value }))]
}

/** The layer's variables after the import, without those that lower layers already set. */
export function withEnvChanges(own: readonly Row[], changes: readonly EnvChange[], newId: () => string): Row[] {
  const wanted = new Map(
    changes.flatMap(({ key, kind, to }) => (kind === 'added' || kind === 'changed' ? [[key, to ?? ''] as const] : [])),
  )
  const gone = new Set(changes.flatMap(({ key, kind }) => (kind === 'removed' ? [key] : [])))
  const kept = own.flatMap((row): Row[] => {
    // Empty rows are dropped.
    if (gone.has(row.key) || (row.key === '' && !row.value)) return []
    const value = wanted.get(row.key)
    wanted.delete(row.key)
    return [value === undefined ? row : { ...row, value }]
  })
  return [...kept, ...[...wanted].map(([key, value]) => ({ id: newId(), key, value }))]
}
