/** Values that may be used for a while after they were read. */
export interface TtlCache<K, V> {
  /** Undefined when there is none, or when it is too old. */
  get(key: K): V | undefined
  /** Like `get`, but also returns a value that is too old, for use while its source is unavailable. */
  peek(key: K): V | undefined
  /** Grows with every deletion. A value that was requested in an earlier generation may be older than what the deletion reported. */
  readonly generation: number
  /**
   * @param options.since the generation in which the value was requested: it is dropped if something was deleted meanwhile
   * @param options.ttlMs for this value instead of that of the cache
   */
  set(key: K, value: V, options?: { since?: number; ttlMs?: number }): void
  /** Returns the cached value, or reads and caches it. Undefined is returned but not cached, so that what is created counts at once. */
  load(key: K, read: () => Promise<V | undefined>): Promise<V | undefined>
  delete(key: K): void
  deleteWhere(matches: (value: V) => boolean): void
  clear(): void
}

/**
 * @param options.max number of entries; the oldest is removed to make room
 */
export function createTtlCache<K, V>(options: { ttlMs: number; max: number }): TtlCache<K, V> {
  const entries = new Map<K, { value: V; until: number }>()
  let generation = 0

  const cache: TtlCache<K, V> = {
    get(key) {
      const entry = entries.get(key)
      return entry && Date.now() < entry.until ? entry.value : undefined
    },
    peek: (key) => entries.get(key)?.value,
    get generation() {
      return generation
    },
    set(key, value, { since = generation, ttlMs = options.ttlMs } = {}) {
      if (since !== generation) return
      // Inserted again, so that the first entry is the oldest.
      entries.delete(key)
      for (const oldest of entries.keys()) {
        if (entries.size < options.max) break
        entries.delete(oldest)
      }
      entries.set(key, { value, until: Date.now() + ttlMs })
    },
    async load(key, read) {
      const known = cache.get(key)
      if (known !== undefined) return known
      const since = generation
      const value = await read()
      if (value !== undefined) cache.set(key, value, { since })
      return value
    },
    delete(key) {
      generation++
      entries.delete(key)
    },
    deleteWhere(matches) {
      generation++
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key)
    },
    clear() {
      generation++
      entries.clear()
    },
  }
  return cache
}

/** Reads once for all callers that ask while the value is being read or is cached. A failure is not cached. */
export function loadShared<K, T>(cache: TtlCache<K, Promise<T>>, key: K, read: () => Promise<T>): Promise<T> {
  const known = cache.get(key)
  if (known) return known
  const value = read()
  cache.set(key, value)
  value.catch(() => {
    if (cache.peek(key) === value) cache.delete(key)
  })
  return value
}

/**
 * Returns the values of several keys, and reads those together that are not cached. While they cannot be read, their old values are returned.
 *
 * @param read reports each value as soon as it has it, and null for what does not exist, so that it is not asked for again at once
 */
export async function loadMany<K, V>(
  cache: TtlCache<K, V | null>,
  keys: readonly K[],
  read: (missing: K[], report: (key: K, value: V | null) => void) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<Map<K, V>> {
  const values = new Map<K, V>()
  const keep = (key: K, value: V | null | undefined) => {
    if (value === null || value === undefined) values.delete(key)
    else values.set(key, value)
  }
  for (const key of keys) keep(key, cache.peek(key))
  const missing = keys.filter((key) => cache.get(key) === undefined)
  const since = cache.generation
  if (missing.length > 0)
    await read(missing, (key, value) => {
      keep(key, value)
      cache.set(key, value, { since })
    }).catch(onError)
  return values
}
