import { z } from 'zod'
import { pause } from '../../../concurrency/pause.ts'
import { EngineError, isEngineError } from '../../../errors.ts'
import type { PrefixTarget } from '../../engine.ts'
import { isOfPrefix, label } from '../../labels.ts'
import type { Cluster, Manifest, ObjectRef } from '../cluster/cluster.ts'
import { deletionLimitsMs } from './limits.ts'
import { poll } from './poll.ts'

/**
 * While a namespace is deleted, nobody may put anything into it, and the agent has to know that nothing of others is in it without reading
 * what is there. A quota of zero for every kind does both: the API server refuses whatever is new, and the cluster publishes how many objects
 * of each kind there are.
 */
export const lockName = 'crux-deletion'
/** A second quota, made when the first one is in force: its counts include all that was created before. */
const countName = 'crux-deletion-count'

/** Counts are final when they have not changed for this long; objects that the cluster deletes with others take a moment. */
const unchangedMs = 5_000
/** A name of a quota's resource has at most this many characters behind `count/`. */
const resourceNameMax = 63

const counts = z.record(z.string(), z.string())
const Status = z.object({ hard: counts, used: counts }).partial().default({})

/** Events are no objects of anybody: the cluster writes them, counts none of them, and deletes them after an hour. */
const uncounted = new Set(['events', 'events.events.k8s.io'])

const toQuotaRef = (namespace: string, name: string): ObjectRef => ({ kind: 'ResourceQuota', namespace, name })
const toKey = (resource: string): string => `count/${resource}`

function toQuota({ prefix, scope }: PrefixTarget, name: string, resources: readonly string[]): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {
      name,
      namespace: prefix,
      labels: { [label.team]: scope.teamId, [label.node]: scope.nodeId, [label.prefix]: prefix },
      annotations: { 'dev.crux.locked-at': new Date().toISOString() },
    },
    spec: { hard: Object.fromEntries(resources.map((resource) => [toKey(resource), '0'])) },
  }
}

/**
 * Refuses all that is new in a namespace.
 *
 * @returns the kinds that can be counted
 * @throws EngineError `refused` when the cluster has kinds that no quota can name
 */
export async function lockNamespace(cluster: Cluster, target: PrefixTarget, signal: AbortSignal): Promise<string[]> {
  const resources = (await cluster.listNamespacedResources()).filter((resource) => !uncounted.has(resource))
  const unnamed = resources.filter((resource) => resource.length > resourceNameMax)
  if (unnamed.length > 0)
    throw new EngineError(
      'refused',
      `The cluster cannot count objects of ${unnamed.join(', ')}, whose names are too long for a quota, so that nothing of others in the namespace ${target.prefix} would be noticed: delete it with kubectl`,
    )
  // The second quota is a new object too.
  await putQuota(
    cluster,
    target,
    lockName,
    resources.filter((resource) => resource !== 'resourcequotas'),
  )
  const isEnforced = await poll(
    async () => {
      const { hard = {} } = await readStatus(cluster, target, lockName)
      return Object.keys(hard).length > 0 || undefined
    },
    { signal, timeoutMs: deletionLimitsMs.quotaEnforced },
  )
  if (!isEnforced)
    throw new EngineError('other', `The cluster does not apply the quota ${lockName} of the namespace ${target.prefix}`)
  await pause(deletionLimitsMs.quotaSettles, signal)
  return resources
}

/**
 * The objects of a locked namespace that are not expected to be there, by kind and with their number. Waits for those that the cluster
 * deletes with others.
 *
 * @throws EngineError `other` when the cluster does not count a kind
 */
export async function countObjects(
  cluster: Cluster,
  target: PrefixTarget,
  { resources, signal }: { resources: readonly string[]; signal: AbortSignal },
): Promise<{ resource: string; count: string }[]> {
  await putQuota(cluster, target, countName, resources)
  const expected = await listExpected(cluster, target)
  const judge = async () => judgeCounts((await readStatus(cluster, target, countName)).used ?? {}, resources, expected)
  let known = ''
  let knownSince = performance.now()
  const result = await poll(
    async () => {
      const found = await judge()
      if (found.missing.length === 0 && found.unexpected.length === 0) return found
      const text = JSON.stringify(found)
      if (text !== known) knownSince = performance.now()
      known = text
      return performance.now() - knownSince >= unchangedMs ? found : undefined
    },
    { signal, timeoutMs: deletionLimitsMs.objectsCounted },
  )
  const found = result ?? (await judge())
  if (found.unexpected.length === 0 && found.missing.length > 0)
    throw new EngineError(
      'other',
      `The cluster does not count objects of ${found.missing.join(', ')} yet, so that nothing of others in the namespace ${target.prefix} would be noticed: try again in a minute`,
    )
  return found.unexpected
}

type Counts = Readonly<Record<string, string>>

/** What every namespace has: an account and the certificate of the API server, and now the two quotas. */
async function listExpected(cluster: Cluster, { prefix }: PrefixTarget): Promise<Counts> {
  const authority = await cluster.get({ kind: 'ConfigMap', namespace: prefix, name: 'kube-root-ca.crt' })
  return { resourcequotas: '2', serviceaccounts: '1', ...(authority && { configmaps: '1' }) }
}

function judgeCounts(used: Counts, resources: readonly string[], expected: Counts) {
  const missing = resources.filter((resource) => used[toKey(resource)] === undefined)
  const unexpected = resources.flatMap((resource) => {
    const count = used[toKey(resource)] ?? '0'
    return count === '0' || count === expected[resource] ? [] : [{ resource, count }]
  })
  return { missing, unexpected }
}

/** Whether both quotas are there, so that nothing can have been created since the objects were counted. */
export async function isLocked(cluster: Cluster, target: PrefixTarget): Promise<boolean> {
  const found = await Promise.all([lockName, countName].map((name) => cluster.get(toQuotaRef(target.prefix, name))))
  return found.every((quota) => quota !== undefined && !quota.deletedAt && isOfPrefix(quota.labels, target))
}

/** Deletes the quotas of a deletion. May be repeated. */
export async function unlockNamespace(cluster: Cluster, target: PrefixTarget): Promise<void> {
  for (const name of [countName, lockName]) {
    const ref = toQuotaRef(target.prefix, name)
    const found = await cluster.get(ref)
    if (found && isOfPrefix(found.labels, target)) await cluster.delete(ref, { uid: found.uid })
  }
}

/**
 * Before a release: a deletion that was interrupted may have left its quotas. An agent without rights to them has made none.
 */
export async function unlockLeft(cluster: Cluster, target: PrefixTarget): Promise<void> {
  try {
    await unlockNamespace(cluster, target)
  } catch (error) {
    if (!isEngineError(error, 'refused')) throw error
  }
}

async function putQuota(
  cluster: Cluster,
  target: PrefixTarget,
  name: string,
  resources: readonly string[],
): Promise<void> {
  try {
    await cluster.create(toQuota(target, name, resources))
  } catch (error) {
    if (!isEngineError(error, 'conflict')) throw error
    throw new EngineError(
      'refused',
      `The namespace ${target.prefix} has a ResourceQuota named ${name} that is not of this node: delete it there`,
      { cause: error },
    )
  }
}

async function readStatus(cluster: Cluster, { prefix }: PrefixTarget, name: string) {
  const quota = await cluster.get(toQuotaRef(prefix, name))
  if (!quota)
    throw new EngineError(
      'conflict',
      `Somebody has deleted the quota ${name} of the namespace ${prefix}, which keeps new objects out of it`,
    )
  return Status.parse(quota.fields.status)
}
