import type { Logger } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { Cluster, ListFilter } from './cluster.ts'
import { UsableNamespaces } from './usable-namespaces.ts'
import { watchNamespaces } from './watch-namespaces.ts'

export const namespacesSetting = 'CRUX_NAMESPACES'

/**
 * A cluster of which only some namespaces are read and changed: the agent has rights in these alone. What is asked of all namespaces is asked
 * of each of them.
 */
export function limitToNamespaces(cluster: Cluster, namespaces: readonly string[], log: Logger): Cluster {
  const usable = new UsableNamespaces(cluster, log)
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
      const lists = await usable.fromEach(toFilters(filter), (one) => cluster.list(kind, one))
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
      const lists = await usable.fromEach(filters, (one) => cluster.list(kind, one))
      for (const [index, one] of lists.entries()) yield { ...one, isFirst: index === 0 }
    },
    async *watch(kind, filter, signal) {
      yield* watchNamespaces({ cluster, usable, kind, filters: toFilters(filter), signal })
    },
    async *readLog(pod, request) {
      check(pod.namespace)
      yield* cluster.readLog(pod, request)
    },
  }
}
