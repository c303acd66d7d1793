import type { ClaimKey } from '@crux/agent-protocol'
import { z } from 'zod'
import { isEngineError } from '../../../errors.ts'
import type { PrefixTarget } from '../../engine.ts'
import { isOfPrefix } from '../../labels.ts'
import type { Cluster, ClusterObject, ObjectRef } from '../cluster/cluster.ts'
import { deletionLimitsMs } from '../locks/limits.ts'
import { poll } from '../locks/poll.ts'
import { type Deletion, type DeletionContext, toReason } from './deletion-context.ts'

/** How often a deletion is repeated that met another change of the same claim, such as a new status. */
const attemptsMax = 6

const Pod = z.object({
  spec: z.object({
    volumes: z.array(z.object({ persistentVolumeClaim: z.object({ claimName: z.string() }).optional() })).default([]),
  }),
  status: z.object({ phase: z.string().default('') }).prefault({}),
})

/** The claims of a prefix that the scope covers. Claims of anybody else are neither shown nor deleted. */
export async function listClaims(cluster: Cluster, target: PrefixTarget): Promise<ClusterObject[]> {
  const { objects } = await cluster.list('PersistentVolumeClaim', { namespace: target.prefix })
  return objects.filter(({ labels }) => isOfPrefix(labels, target))
}

/** Deletes one claim after the other. One that stays does not stop the others. */
export async function deleteClaims(
  { node: { cluster }, signal }: Pick<DeletionContext, 'node' | 'signal'>,
  target: PrefixTarget,
  claims: readonly Pick<ClaimKey, 'name' | 'uid'>[],
): Promise<Deletion[]> {
  const deletions: Deletion[] = []
  for (const claim of claims) {
    signal.throwIfAborted()
    deletions.push(
      await deleteClaim(cluster, target, claim).catch((error: unknown) => ({ state: 'kept', reason: toReason(error) })),
    )
  }
  return Promise.all(
    deletions.map((deletion, index) =>
      awaitGone({ cluster, signal }, deletion, toClaimRef(target, claims[index]?.name)),
    ),
  )
}

const toClaimRef = ({ prefix }: PrefixTarget, name = ''): ObjectRef => ({
  kind: 'PersistentVolumeClaim',
  namespace: prefix,
  name,
})

async function deleteClaim(
  cluster: Cluster,
  target: PrefixTarget,
  { name, uid }: Pick<ClaimKey, 'name' | 'uid'>,
): Promise<Deletion> {
  const ref = toClaimRef(target, name)
  for (let attempt = 1; ; attempt += 1) {
    const found = await cluster.get(ref)
    if (!found) return { state: 'deleted' }
    if (!isOfPrefix(found.labels, target))
      return { state: 'kept', reason: `the claim ${name} was not made by this node for the prefix ${target.prefix}` }
    if (found.uid !== uid)
      return { state: 'kept', reason: `the claim ${name} was replaced by another one of the same name in the meantime` }
    if (found.deletedAt) return { state: 'deleting', reason: '' }
    const user = await findUser(cluster, ref)
    if (user) return { state: 'kept', reason: `the claim ${name} is used by the pod ${user}` }
    try {
      await cluster.delete(ref, { uid, resourceVersion: found.resourceVersion })
      return { state: 'deleting', reason: '' }
    } catch (error) {
      if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
    }
  }
}

/** The name of a pod that has the claim mounted, or is about to. Those of the prefix have ended before. */
async function findUser(cluster: Cluster, { name, namespace }: ObjectRef): Promise<string | undefined> {
  const { objects } = await cluster.list('Pod', { namespace })
  return objects.find(({ fields }) => {
    const { data } = Pod.safeParse(fields)
    if (!data || ['Succeeded', 'Failed'].includes(data.status.phase)) return false
    return data.spec.volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name)
  })?.name
}

async function awaitGone(
  { cluster, signal }: { cluster: Cluster; signal: AbortSignal },
  deletion: Deletion,
  ref: ObjectRef,
): Promise<Deletion> {
  if (deletion.state !== 'deleting') return deletion
  let finalizers: readonly string[] = []
  try {
    const gone = await poll(
      async () => {
        const found = await cluster.get(ref)
        finalizers = found?.finalizers ?? []
        return !found?.deletedAt || undefined
      },
      { signal, timeoutMs: deletionLimitsMs.claimsGone },
    )
    if (gone) return { state: 'deleted' }
  } catch (error) {
    return { state: 'deleting', reason: toReason(error) }
  }
  return {
    state: 'deleting',
    reason: `the cluster is deleting the claim ${ref.name}, and waits for ${finalizers.join(', ') || 'its volume'}`,
  }
}
