/** Runs work that shares a key one after another, and the rest in parallel. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  /** @param work may leave its turn before its end, so that the next work of the key starts */
  async run<T>(key: string, work: (leave: () => void) => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const { promise: over, resolve: leave } = Promise.withResolvers<void>()
    this.#last.set(key, over)
    try {
      await before
      return await work(leave)
    } finally {
      leave()
      if (this.#last.get(key) === over) this.#last.delete(key)
    }
  }
}
