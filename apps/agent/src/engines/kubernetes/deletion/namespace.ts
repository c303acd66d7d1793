import { z } from 'zod'
import { EngineError, isEngineError } from '../../../errors.ts'
import type { PrefixTarget } from '../../engine.ts'
import { isOfPrefix } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { Cluster, ClusterObject, ObjectKind } from '../cluster/cluster.ts'
import { namespacesSetting } from '../cluster/limited-cluster.ts'
import { deletionLimitsMs } from '../locks/limits.ts'
import { countObjects, isLocked, lockName, lockNamespace, unlockNamespace } from '../locks/namespace-lock.ts'
import { poll } from '../locks/poll.ts'
import type { ClusterNode } from '../rollout/release-context.ts'
import { type Deletion, type DeletionContext, toReason } from './deletion-context.ts'

const attemptsMax = 6

const Status = z.object({
  conditions: z.array(z.object({ type: z.string(), status: z.string(), message: z.string().default('') })).default([]),
})

export const getNamespace = (cluster: Cluster, { prefix }: PrefixTarget): Promise<ClusterObject | undefined> =>
  cluster.get({ kind: 'Namespace', namespace: '', name: prefix })

/** Why a namespace is never deleted by this agent; undefined for the node's own. */
export function findReasonToKeep(
  { namespaces }: Pick<ClusterNode, 'namespaces'>,
  target: PrefixTarget,
  found: ClusterObject,
): string | undefined {
  if (namespaces) return `the agent is limited to some namespaces by ${namespacesSetting}, and deletes none of them`
  if (isOfPrefix(found.labels, target)) return undefined
  return `the namespace ${target.prefix} was not made by this node`
}

/** The kinds of which the agent may list objects. Pods and replica sets go with what made them. */
const visibleKinds = [
  'Deployment',
  'Job',
  'Service',
  'Ingress',
  'PersistentVolumeClaim',
  'Pod',
] as const satisfies ObjectKind[]

/** What the agent can see of others in the namespace. */
export async function listForeign(
  cluster: Cluster,
  target: PrefixTarget,
): Promise<{ kind: ObjectKind; name: string }[]> {
  const lists = await Promise.all(
    visibleKinds.map(async (kind) => (await cluster.list(kind, { namespace: target.prefix })).objects),
  )
  return lists.flat().flatMap(({ kind, labels, name, owners }) => {
    if (owners.length > 0 || isOfPrefix(labels, target)) return []
    return [{ kind, name }]
  })
}

/** Deletes the namespace of a prefix when it is the node's own and nothing else is in it. Its claims and containers are gone by then. */
export async function deleteNamespace(context: DeletionContext, target: PrefixTarget): Promise<Deletion> {
  const { node } = context
  try {
    const found = await getNamespace(node.cluster, target)
    if (!found) return { state: 'deleted' }
    const reason = findReasonToKeep(node, target, found)
    if (reason !== undefined) return { state: 'kept', reason }
    if (!found.deletedAt) {
      const refusal = await deleteUnlessUsed(context, target)
      if (refusal !== undefined) return { state: 'kept', reason: refusal }
    }
  } catch (error) {
    return { state: 'kept', reason: toReason(error) }
  }
  return awaitGone(context, target)
}

/** @returns why it stays */
async function deleteUnlessUsed(context: DeletionContext, target: PrefixTarget): Promise<string | undefined> {
  const { locked, node, signal } = context
  const { cluster } = node
  const foreign = await listForeign(cluster, target)
  if (foreign.length > 0) return explainForeign(target, foreign)
  await unlockNamespace(cluster, target)
  await locked.remember(target)
  let isDeleted = false
  try {
    const resources = await lockNamespace(cluster, target, signal)
    const unexpected = await countObjects(cluster, target, { resources, signal })
    if (unexpected.length > 0) return explainCounts(target, unexpected)
    await deleteLocked(cluster, target)
    isDeleted = true
    return undefined
  } finally {
    if (!isDeleted) await unlock(context, target)
    await locked.forget(target.prefix)
  }
}

async function unlock({ node: { cluster }, signal }: DeletionContext, target: PrefixTarget): Promise<void> {
  try {
    await retryWhileUnavailable(() => unlockNamespace(cluster, target), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new EngineError(
      'other',
      `the namespace ${target.prefix} stays, and nothing new can be created in it until the ResourceQuota ${lockName} is deleted: ${toReason(error)}`,
      { cause: error },
    )
  }
}

/** The namespace as it was judged, and still locked. */
async function deleteLocked(cluster: Cluster, target: PrefixTarget): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await getNamespace(cluster, target)
    if (!found || found.deletedAt) return
    if (!isOfPrefix(found.labels, target) || !(await isLocked(cluster, target)))
      throw new EngineError(
        'conflict',
        `somebody has changed the namespace ${target.prefix} while it was to be deleted`,
      )
    try {
      const { resourceVersion, uid } = found
      return await cluster.delete({ kind: 'Namespace', namespace: '', name: target.prefix }, { uid, resourceVersion })
    } catch (error) {
      if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
    }
  }
}

async function awaitGone({ node: { cluster }, signal }: DeletionContext, target: PrefixTarget): Promise<Deletion> {
  let last: ClusterObject | undefined
  try {
    const gone = await poll(
      async () => {
        last = await getNamespace(cluster, target)
        return !last?.deletedAt || undefined
      },
      { signal, timeoutMs: deletionLimitsMs.namespaceGone },
    )
    if (gone) return { state: 'deleted' }
  } catch (error) {
    return { state: 'deleting', reason: toReason(error) }
  }
  return { state: 'deleting', reason: explainDeleting(target, last) }
}

/** The cluster says what it waits for, such as objects with a finalizer. */
export function explainDeleting({ prefix }: PrefixTarget, found: ClusterObject | undefined): string {
  const conditions = Status.safeParse(found?.fields.status).data?.conditions ?? []
  const messages = conditions.flatMap(({ message, status }) => (status === 'True' && message !== '' ? [message] : []))
  const waits = messages.length > 0 ? ` (Kubernetes: ${messages.join('; ')})` : ''
  return `the cluster is still deleting the namespace ${prefix}${waits}`
}

const shownMax = 10
const toList = (names: readonly string[]): string =>
  names.length > shownMax
    ? `${names.slice(0, shownMax).join(', ')} and ${names.length - shownMax} more`
    : names.join(', ')

const explainForeign = ({ prefix }: PrefixTarget, foreign: readonly { kind: string; name: string }[]): string =>
  `the namespace ${prefix} has objects that Crux did not make: ${toList(foreign.map(({ kind, name }) => `${kind} ${name}`))}`

const explainCounts = ({ prefix }: PrefixTarget, counts: readonly { resource: string; count: string }[]): string =>
  `the namespace ${prefix} has more in it than Crux has made, counted by kind with what every namespace has: ${toList(
    counts.map(({ count, resource }) => `${resource}: ${count}`),
  )}`
