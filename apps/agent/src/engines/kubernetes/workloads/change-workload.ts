import { Operation } from '@crux/agent-protocol'
import { z } from 'zod'
import { pause } from '../../../concurrency/pause.ts'
import { EngineError, isEngineError } from '../../../errors.ts'
import { getOwner, isOwnedBy, label, type OwnerIds, ownerLabels } from '../../labels.ts'
import type { Cluster, ClusterObject, Manifest, ObjectKind, ObjectRef } from '../cluster/cluster.ts'
import { listConfigRefs } from '../cluster/config-refs.ts'
import { listServed } from '../cluster/list-served.ts'
import { isOurs } from './records.ts'

/** On a Deployment that was stopped: how many replicas it gets when it is started again. */
const replicasAnnotation = 'dev.crux.replicas'
/** On a pod template: its change replaces the pods. */
const restartAnnotation = 'dev.crux.restarted-at'

/** How often a change is repeated that met another change of the same object, such as a new status. */
const attemptsMax = 6
const pauseMs = 40

/** What belongs to a workload and goes with it. Claims are not among them: they may hold data. */
const dependentKinds = ['Ingress', 'Service', 'ServiceMonitor'] as const satisfies ObjectKind[]

const Deployment = z.looseObject({
  replicas: z.number().default(1),
  template: z.looseObject({
    metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).default({}) }).prefault({}),
  }),
})

/** @throws EngineError `refused` for a workload of anybody else, which is never changed */
export function assertOurs(object: ClusterObject): void {
  if (!isOurs(object))
    throw new EngineError('refused', `The ${object.kind} ${object.name} was not deployed by Crux, and stays as it is`)
}

/**
 * Starts, stops or restarts a Deployment.
 *
 * The change is an apply of everything that this agent applied before: a change in another way would count as one by another program, and
 * the next deployment would conflict with it.
 */
export async function operateWorkload(
  cluster: Pick<Cluster, 'getOwned' | 'apply'>,
  ref: ObjectRef,
  uid: string,
  operation: Operation,
): Promise<ClusterObject> {
  if (ref.kind === 'Job')
    throw new EngineError('refused', `${ref.name} is a job, which runs once: deploy it again to run it again`)
  for (let attempt = 1; ; attempt += 1) {
    const found = await cluster.getOwned(ref)
    if (!found || found.object.uid !== uid)
      throw new EngineError('not-found', `There is no Deployment ${ref.name} any more`)
    assertOurs(found.object)
    if (!found.manifest)
      throw new EngineError(
        'refused',
        `The Deployment ${ref.name} was made by another program: change it there, or deploy it again`,
      )
    const changed = toOperated(found.manifest, operation)
    if (!changed) return found.object
    try {
      return await cluster.apply(changed, found.object)
    } catch (error) {
      if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
      await pause(pauseMs * 2 ** attempt, new AbortController().signal)
    }
  }
}

/** Undefined when there is nothing to change. */
function toOperated(manifest: Manifest, operation: Operation): Manifest | undefined {
  const { replicas, template, ...spec } = Deployment.parse(manifest.spec)
  const { [replicasAnnotation]: kept, ...annotations } = manifest.metadata.annotations ?? {}
  const withReplicas = (wanted: number, more: Record<string, string>) => ({
    ...manifest,
    metadata: { ...manifest.metadata, annotations: { ...annotations, ...more } },
    spec: { ...spec, template, replicas: wanted },
  })
  switch (operation) {
    case Operation.STOP:
      return replicas === 0 ? undefined : withReplicas(0, { [replicasAnnotation]: String(replicas) })
    case Operation.START:
      return replicas > 0 ? undefined : withReplicas(Math.max(1, Number.parseInt(kept ?? '', 10) || 1), {})
    case Operation.RESTART: {
      if (replicas === 0) return toOperated(manifest, Operation.START)
      const annotated = { ...template.metadata.annotations, [restartAnnotation]: new Date().toISOString() }
      const restarted = { ...template, metadata: { ...template.metadata, annotations: annotated } }
      return { ...manifest, spec: { ...spec, replicas, template: restarted } }
    }
    default:
      throw new EngineError('refused', 'This agent does not know that operation')
  }
}

/** Deletes a workload and what belongs to it. May be repeated: the workload itself is deleted last. */
export async function removeWorkload(
  cluster: Pick<Cluster, 'get' | 'list' | 'delete' | 'serves'>,
  ref: ObjectRef,
  uid: string,
): Promise<void> {
  const found = await cluster.get(ref)
  if (!found || found.uid !== uid) return
  assertOurs(found)
  for (const object of await listDependents(cluster, found)) await cluster.delete(object, { uid: object.uid })
  await cluster.delete(ref, { uid })
}

async function listDependents(
  cluster: Pick<Cluster, 'get' | 'list' | 'serves'>,
  workload: ClusterObject,
): Promise<ClusterObject[]> {
  const { labels, namespace, uid } = workload
  const owner = getOwner({ ...labels })
  const instance = labels[label.instance]
  if (!owner || !instance) return []
  const filter = { namespace, labels: { ...ownerLabels(owner), [label.instance]: instance } }
  const list = async (kind: ObjectKind) => (await cluster.list(kind, filter)).objects
  // A Job of an earlier release shares what the one of the current release uses.
  const sharing = [...(await list('Deployment')), ...(await list('Job'))].filter((other) => other.uid !== uid)
  if (sharing.length > 0) return []
  const found: ClusterObject[] = []
  for (const kind of dependentKinds) found.push(...(await listServed(cluster, kind, filter)))
  return [...found, ...(await listConfig(cluster, workload, owner))]
}

/** Config and secrets that any revision of the workload names. They are asked for by name: an agent has no right to list secrets. */
async function listConfig(
  cluster: Pick<Cluster, 'get' | 'list'>,
  workload: ClusterObject,
  owner: OwnerIds,
): Promise<ClusterObject[]> {
  const { namespace, uid } = workload
  const revisions = (await cluster.list('ReplicaSet', { namespace })).objects.filter(({ owners }) =>
    owners.some((one) => one.uid === uid),
  )
  const names = new Map([workload, ...revisions].flatMap(listConfigRefs).map((ref) => [`${ref.kind}/${ref.name}`, ref]))
  const found = await Promise.all([...names.values()].map((ref) => cluster.get({ ...ref, namespace })))
  return found.flatMap((object) => (object && isOwnedBy({ ...object.labels }, owner) ? [object] : []))
}
