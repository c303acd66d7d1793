/** Long enough for typing into a search box, short enough for a recently pushed tag. */
const ttlMsMin = 10_000
/** A list that took long to read is used for longer: it would be read all the time otherwise. */
const ttlPerLoading = 20
const ttlMsMax = 5 * 60_000

type Entry<T> = { value: Promise<T>; bytes: number; until: number }

/**
 * The lists of one kind that registries answered, for all of them together, bounded by their size. A list is read once for all callers that ask
 * meanwhile; a failure is not kept.
 *
 * @param getSize estimates the memory of a list in bytes
 */
export function createAnswerCache<T>(bytesMax: number, getSize: (list: T) => number, now = Date.now) {
  const entries = new Map<string, Entry<T>>()
  let total = 0

  function remove(key: string) {
    const entry = entries.get(key)
    if (!entry) return
    total -= entry.bytes
    entries.delete(key)
  }

  return {
    /** The estimated size of all lists. */
    get bytes() {
      return total
    },
    has: (key: string) => now() < (entries.get(key)?.until ?? 0),
    /** @param key names the registry, the version of its address and credential, and the list */
    load(key: string, read: () => Promise<T>): Promise<T> {
      const known = entries.get(key)
      if (known && now() < known.until) {
        // Inserted again, so that the first entry is the one that was not used for the longest time.
        entries.delete(key)
        entries.set(key, known)
        return known.value
      }
      remove(key)
      const started = now()
      const value = read()
      const entry: Entry<T> = { value, bytes: 0, until: Number.POSITIVE_INFINITY }
      entries.set(key, entry)
      value.then(
        (list) => {
          // It was dropped by a push meanwhile.
          if (entries.get(key) !== entry) return
          entry.bytes = getSize(list)
          total += entry.bytes
          entry.until = now() + Math.min(Math.max((now() - started) * ttlPerLoading, ttlMsMin), ttlMsMax)
          for (const [oldest, { bytes }] of entries) {
            if (total <= bytesMax) break
            if (bytes > 0) remove(oldest)
          }
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key)
        },
      )
      return value
    },
    delete: remove,
    deleteMatching(matches: (key: string) => boolean) {
      for (const key of [...entries.keys()]) if (matches(key)) remove(key)
    },
  }
}
