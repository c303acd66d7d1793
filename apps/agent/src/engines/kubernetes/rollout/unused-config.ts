import { z } from 'zod'
import { isOwnedBy } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import { type ConfigRef, listConfigRefs, toKey } from '../cluster/config-refs.ts'
import { revisionHistoryLimit } from '../plan/workload.ts'
import type { ReleaseContext } from './release-context.ts'
import { getRevision } from './status.ts'

const Replicas = z.object({ replicas: z.number().default(1) })

/**
 * Those of the given config and secrets that are this owner's and that no pod template names any more. They are asked for by name: an agent has
 * no right to list secrets.
 */
export async function findUnusedConfig(
  context: ReleaseContext,
  candidates: readonly ConfigRef[],
): Promise<ClusterObject[]> {
  if (candidates.length === 0) return []
  const { control, node, owner } = context
  const { cluster } = node
  const list = async (kind: 'Deployment' | 'Job' | 'ReplicaSet') =>
    (await retryWhileUnavailable(() => cluster.list(kind, { namespace: owner.prefix }), control.ending, context))
      .objects
  const [deployments, jobs, replicaSets] = await Promise.all([list('Deployment'), list('Job'), list('ReplicaSet')])
  const workloads = [...deployments, ...jobs].filter(({ deletedAt }) => !deletedAt)
  const uids = new Set(workloads.map(({ uid }) => uid))
  const revisions = listKept(replicaSets.filter(({ owners }) => owners.some(({ uid }) => uids.has(uid))))
  const used = new Set([...workloads, ...revisions].flatMap((object) => listConfigRefs(object).map(toKey)))
  const unused: ClusterObject[] = []
  for (const { kind, name } of candidates.filter((ref) => !used.has(toKey(ref)))) {
    const ref = { kind, namespace: owner.prefix, name }
    const found = await retryWhileUnavailable(() => cluster.get(ref), control.ending, context)
    if (found && isOwnedBy({ ...found.labels }, owner)) unused.push(found)
  }
  return unused
}

/** Without revisions that the cluster is about to delete: after that, nothing would name their config any more. */
function listKept(replicaSets: readonly ClusterObject[]): ClusterObject[] {
  const byOwner = Map.groupBy(replicaSets, ({ owners }) => owners[0]?.uid ?? '')
  return [...byOwner.values()].flatMap((sets) => {
    // The current one does not count for the limit, and has no pods while its workload is stopped.
    const [current, ...others] = sets.toSorted((left, right) => Number(getRevision(right)) - Number(getRevision(left)))
    const isRunning = ({ fields }: ClusterObject) => (Replicas.safeParse(fields.spec).data?.replicas ?? 1) > 0
    const ended = others.filter((set) => !isRunning(set))
    return [...(current ? [current] : []), ...others.filter(isRunning), ...ended.slice(0, revisionHistoryLimit)]
  })
}
