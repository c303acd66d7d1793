import { guarded, inBackground } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import { isEngineError } from '../../../errors.ts'
import type { Cluster, ClusterObject, ObjectKind } from '../cluster/cluster.ts'

/** The kinds that show how a rollout goes. */
const watchedKinds = ['Deployment', 'Job', 'ReplicaSet', 'Pod', 'Event'] as const satisfies readonly ObjectKind[]
/** The pause after a list that failed because the API server did not answer. */
const retryMs = 250

type WatchedKind = (typeof watchedKinds)[number]

/** The objects of one namespace while a release is applied to it, kept up to date by one watch per kind. */
export class NamespaceView {
  readonly #cluster: Pick<Cluster, 'list' | 'watch'>
  readonly #namespace: string
  readonly #ending = new AbortController()
  /** By kind and name. */
  readonly #objects = new Map<WatchedKind, Map<string, ClusterObject>>()
  readonly #listeners = new Set<() => void>()
  #failure: { error: unknown } | undefined

  constructor(cluster: Pick<Cluster, 'list' | 'watch'>, namespace: string) {
    this.#cluster = cluster
    this.#namespace = namespace
    for (const kind of watchedKinds) inBackground(`watching ${kind} objects`, () => this.#follow(kind))
  }

  /** Objects of a kind, in the order in which they appeared. */
  all(kind: WatchedKind): ClusterObject[] {
    return [...(this.#objects.get(kind)?.values() ?? [])]
  }

  /**
   * Calls `judge` now and after every change, until it answers something.
   *
   * @param everyMs how often it is called where nothing changes
   * @throws the signal's reason, or the error of a watch that cannot go on
   */
  until<T>(judge: () => T | undefined, signal: AbortSignal, everyMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#listeners.delete(look)
        clearInterval(timer)
        signal.removeEventListener('abort', stop)
        settle()
      }
      const stop = guarded('an aborted wait', () => end(() => reject(signal.reason)))
      const look = () => {
        if (this.#failure) return end(() => reject(this.#failure?.error))
        // A kind that was not listed yet would look as if it had no objects.
        if (this.#objects.size < watchedKinds.length) return
        try {
          const answer = judge()
          if (answer !== undefined) end(() => resolve(answer))
        } catch (error) {
          end(() => reject(error))
        }
      }
      const timer = setInterval(guarded('a wait for objects', look), everyMs)
      signal.addEventListener('abort', stop, { once: true })
      this.#listeners.add(look)
      if (signal.aborted) stop()
      else look()
    })
  }

  close(): void {
    this.#ending.abort()
  }

  async #follow(kind: WatchedKind): Promise<void> {
    const { signal } = this.#ending
    const filter = { namespace: this.#namespace }
    try {
      for await (const event of this.#cluster.watch(kind, filter, signal)) {
        if (event.type === 'relist') {
          const { objects } = await this.#cluster.list(kind, filter)
          this.#objects.set(kind, new Map(objects.map((object) => [object.name, object])))
        } else this.#change(kind, event.object, event.type === 'deleted')
        for (const listener of [...this.#listeners]) listener()
      }
    } catch (error) {
      if (signal.aborted) return
      // A list that met a cut connection is repeated by the watch's next `relist`; anything else would leave every wait without an end.
      if (isEngineError(error, 'unavailable')) {
        await pause(retryMs, signal).catch(() => undefined)
        return this.#follow(kind)
      }
      this.#failure = { error }
      for (const listener of [...this.#listeners]) listener()
    }
  }

  #change(kind: WatchedKind, object: ClusterObject, isDeleted: boolean): void {
    const known = this.#objects.get(kind) ?? new Map<string, ClusterObject>()
    this.#objects.set(kind, known)
    const before = known.get(object.name)
    if (isDeleted) {
      if (!before || before.uid === object.uid) known.delete(object.name)
    } else if (!before || before.uid !== object.uid || !isOlder(object, before)) known.set(object.name, object)
  }
}

/** A list may be newer than changes that the watch still delivers. */
function isOlder(object: ClusterObject, than: ClusterObject): boolean {
  const [left, right] = [object.resourceVersion, than.resourceVersion]
  return /^\d+$/.test(left) && /^\d+$/.test(right) && BigInt(left) < BigInt(right)
}
