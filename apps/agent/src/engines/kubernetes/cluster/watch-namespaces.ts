import { guarded } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import type { Cluster, ListFilter, ObjectKind, WatchEvent } from './cluster.ts'
import type { UsableNamespaces } from './usable-namespaces.ts'

/** How long a namespace that appears is not seen. */
const retryMs = 10_000

interface Watched {
  cluster: Pick<Cluster, 'watch'>
  usable: Pick<UsableNamespaces, 'isMissing' | 'found'>
  kind: ObjectKind
  filters: readonly ListFilter[]
  signal: AbortSignal
}

interface Start {
  isKnown: boolean
}

/**
 * One watch of several namespaces. The first `relist` comes when all of them have begun: nothing is missed by a list that follows it. One that
 * does not exist is tried again.
 *
 * @throws the error of a namespace that exists, or when none does
 */
export async function* watchNamespaces(watched: Watched): AsyncGenerator<WatchEvent> {
  const merged = new MergedWatch(watched)
  try {
    yield* merged.events()
  } finally {
    await merged.end()
  }
}

class MergedWatch {
  readonly #watched: Watched
  readonly #ending = new AbortController()
  readonly #signal: AbortSignal
  readonly #waiting: WatchEvent[] = []
  /** Namespaces of which it is not known yet whether they can be watched. */
  #starting: number
  #missing = 0
  #running: number
  #failure: { error: unknown } | undefined
  #wake: () => void = () => undefined
  readonly #following: Promise<void>[]

  constructor(watched: Watched) {
    this.#watched = watched
    this.#signal = AbortSignal.any([watched.signal, this.#ending.signal])
    this.#starting = watched.filters.length
    this.#running = watched.filters.length
    this.#following = watched.filters.map((filter) => this.#follow(filter))
  }

  async *events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      for (let event = this.#waiting.shift(); event; event = this.#waiting.shift()) yield event
      if (this.#failure) throw this.#failure.error
      if (this.#running === 0) return
      await new Promise<void>((resolve) => {
        this.#wake = guarded('a change in a namespace', () => resolve())
        if (this.#waiting.length > 0 || this.#failure || this.#running === 0) resolve()
      })
    }
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#following)
  }

  async #follow(filter: ListFilter): Promise<void> {
    const start = { isKnown: false }
    try {
      while (!this.#signal.aborted) {
        const error = await this.#watchOnce(filter, start)
        if (error === undefined) return
        this.#begin(start)
        this.#missing += 1
        if (this.#missing === this.#watched.filters.length) throw error
        // Its objects are gone; of the others, nothing is missed.
        if (this.#starting === 0) this.#push({ type: 'relist' })
        await pause(retryMs, this.#signal).catch(() => undefined)
        this.#missing -= 1
      }
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#running -= 1
      this.#wake()
    }
  }

  /** @returns the error when the namespace is missing, undefined at the end of the watch */
  async #watchOnce(filter: ListFilter, start: Start): Promise<unknown> {
    const { cluster, kind, usable } = this.#watched
    try {
      for await (const event of cluster.watch(kind, filter, this.#signal)) {
        usable.found(filter.namespace)
        const isFirst = this.#begin(start)
        if (event.type !== 'relist' || !isFirst || this.#starting === 0) this.#push(event)
      }
      return undefined
    } catch (error) {
      if (this.#signal.aborted) return undefined
      if (!(await usable.isMissing(filter.namespace, error))) throw error
      return error
    }
  }

  /** @returns whether this is the first that is known of the namespace */
  #begin(start: Start): boolean {
    if (start.isKnown) return false
    start.isKnown = true
    this.#starting -= 1
    return true
  }

  #push(event: WatchEvent): void {
    this.#waiting.push(event)
    this.#wake()
  }
}
