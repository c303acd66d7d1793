import { guarded } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { Cluster, ListFilter, ObjectKind, WatchEvent } from './cluster.ts'

export const namespacesSetting = 'CRUX_NAMESPACES'

/**
 * A cluster of which only some namespaces are read and changed: the agent has rights in these alone. What is asked of all namespaces is asked
 * of each of them.
 */
export function limitToNamespaces(cluster: Cluster, namespaces: readonly string[]): Cluster {
  const check = (namespace: string | undefined): void => {
    if (namespace === undefined || namespace === '' || namespaces.includes(namespace)) return
    throw new EngineError(
      'refused',
      `This agent is limited to the namespaces ${namespaces.join(', ')} by ${namespacesSetting}, and ${namespace} is not among them`,
    )
  }
  const toFilters = (filter: ListFilter): ListFilter[] => {
    check(filter.namespace)
    return filter.namespace === undefined ? namespaces.map((namespace) => ({ ...filter, namespace })) : [filter]
  }
  return {
    ...cluster,
    async get(ref) {
      check(ref.namespace)
      return cluster.get(ref)
    },
    async getOwned(ref) {
      check(ref.namespace)
      return cluster.getOwned(ref)
    },
    async create(manifest) {
      check(manifest.metadata.namespace)
      return cluster.create(manifest)
    },
    async apply(manifest, known, options) {
      check(manifest.metadata.namespace)
      return cluster.apply(manifest, known, options)
    },
    async previewApply(manifest) {
      check(manifest.metadata.namespace)
      return cluster.previewApply(manifest)
    },
    async removeFields(ref, known, paths) {
      check(ref.namespace)
      return cluster.removeFields(ref, known, paths)
    },
    async delete(ref, options) {
      check(ref.namespace)
      return cluster.delete(ref, options)
    },
    async list(kind, filter) {
      const lists = await Promise.all(toFilters(filter).map((one) => cluster.list(kind, one)))
      return {
        objects: lists.flatMap(({ objects }) => objects),
        // A watch of several namespaces has no common position, and takes none.
        resourceVersion: lists[0]?.resourceVersion ?? '',
      }
    },
    async *pages(kind, filter) {
      const filters = toFilters(filter)
      const [only] = filters
      if (only && filters.length === 1) return yield* cluster.pages(kind, only)
      // Each namespace as a whole: a list that begins again in one of them must not discard the others.
      for (const [index, one] of filters.entries()) yield { ...(await cluster.list(kind, one)), isFirst: index === 0 }
    },
    async *watch(kind, filter, signal) {
      yield* watchAll(cluster, kind, toFilters(filter), signal)
    },
    async *readLog(pod, request) {
      check(pod.namespace)
      yield* cluster.readLog(pod, request)
    },
  }
}

/** One watch of several namespaces. The first `relist` comes when all of them have begun: nothing is missed by a list that follows it. */
async function* watchAll(
  cluster: Cluster,
  kind: ObjectKind,
  filters: readonly ListFilter[],
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const ending = new AbortController()
  const all = AbortSignal.any([signal, ending.signal])
  const waiting: WatchEvent[] = []
  let starting = filters.length
  let running = filters.length
  let failure: { error: unknown } | undefined
  let wake: () => void = () => undefined
  const follow = async (filter: ListFilter): Promise<void> => {
    let isStarted = false
    try {
      for await (const event of cluster.watch(kind, filter, all)) {
        if (!isStarted) starting -= 1
        if (event.type !== 'relist' || isStarted || starting === 0) waiting.push(event)
        isStarted = true
        wake()
      }
    } catch (error) {
      failure ??= { error }
    } finally {
      running -= 1
      wake()
    }
  }
  const following = filters.map((filter) => follow(filter))
  try {
    for (;;) {
      for (let event = waiting.shift(); event; event = waiting.shift()) yield event
      if (failure) throw failure.error
      if (running === 0) return
      await new Promise<void>((resolve) => {
        wake = guarded('a change in a namespace', () => resolve())
        if (waiting.length > 0 || failure || running === 0) resolve()
      })
    }
  } finally {
    ending.abort()
    await Promise.all(following)
  }
}
