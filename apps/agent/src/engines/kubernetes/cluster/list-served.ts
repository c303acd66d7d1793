import { isEngineError } from '../../../errors.ts'
import type { Cluster, ClusterObject, ListFilter, ObjectKind } from './cluster.ts'

/**
 * Lists objects of a kind that not every cluster knows: a cluster without its operator has none of them. An operator may be removed between the
 * two requests, and a cluster goes on naming a kind for a moment that it no longer has.
 */
export async function listServed(
  cluster: Pick<Cluster, 'list' | 'serves'>,
  kind: ObjectKind,
  filter: ListFilter,
): Promise<ClusterObject[]> {
  if (kind !== 'ServiceMonitor') return (await cluster.list(kind, filter)).objects
  if (!(await cluster.serves(kind))) return []
  try {
    return (await cluster.list(kind, filter)).objects
  } catch (error) {
    if (isEngineError(error, 'not-found')) return []
    throw error
  }
}
