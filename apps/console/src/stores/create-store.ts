/** A value that components read with useSyncExternalStore and anything may set. */
export type Store<T> = { get: () => T; set: (value: T) => void; subscribe: (listener: () => void) => () => void }

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A store that remembers its value in localStorage; a value that `parse` refuses is forgotten. */
export function createPersistedStore<T>(key: string, initial: T, parse: (raw: unknown) => T | undefined): Store<T> {
  const store = createStore(read(key, parse) ?? initial)
  return {
    ...store,
    set(next) {
      store.set(next)
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // A blocked storage only means that the choice is gone after a reload.
      }
    },
  }
}

function read<T>(key: string, parse: (raw: unknown) => T | undefined): T | undefined {
  try {
    const raw = localStorage.getItem(key)
    return raw === null ? undefined : parse(JSON.parse(raw))
  } catch {
    return undefined
  }
}
