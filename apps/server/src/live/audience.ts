type Leaver = { onLeave(fn: () => void): void }

/** The subscribers of a channel in this process, by the resource that they show. */
export function createAudience<S extends Leaver>() {
  const byKey = new Map<string, Set<S>>()
  return {
    of: (key: string): S[] => [...(byKey.get(key) ?? [])],
    has: (key: string): boolean => byKey.has(key),
    keys: (): string[] => [...byKey.keys()],
    /** @param emptied runs when the last subscriber of the resource has left */
    join(key: string, subscriber: S, emptied?: () => void): void {
      const all = byKey.get(key) ?? new Set()
      byKey.set(key, all.add(subscriber))
      subscriber.onLeave(() => {
        all.delete(subscriber)
        if (all.size > 0 || byKey.get(key) !== all) return
        byKey.delete(key)
        emptied?.()
      })
    },
  }
}
