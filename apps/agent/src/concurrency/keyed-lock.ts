import { orAborted } from './or-aborted.ts'

/** Runs what shares a key one after another, the rest side by side. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  /** @param signal what is aborted waits no longer: it begins beside the one before it, to end */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const turn = signal ? orAborted(before, signal) : before
    const mine = turn.then(work, work)
    const settled = Promise.allSettled([before, mine])
    this.#last.set(key, settled)
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    })
    return mine
  }
}
