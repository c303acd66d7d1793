import type { Release } from '@crux/agent-protocol'
import { z } from 'zod'
import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { PlanError } from '../../../errors.ts'
import { isOwnedBy, label } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { Cluster, ClusterObject, Manifest } from '../cluster/cluster.ts'
import { toRef } from '../cluster/cluster.ts'
import { listConfigRefs } from '../cluster/config-refs.ts'
import { findDrift, listVariables } from '../drift/find-drift.ts'
import { findHidingVariables, withHidingVariables } from '../drift/hiding-variables.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'
import { checkPodLabels, listForeignNamespaces } from './check-namespace.ts'
import { planStopped } from './claim-writers.ts'
import { assertClaimFits } from './existing-claims.ts'
import { judgeDeployment, judgeJob } from './judge.ts'
import { assertNamespace, assertOwned } from './own-objects.ts'
import type { ReleaseContext } from './release-context.ts'
import {
  type ConfigRef,
  isReplacedKind,
  type PlannedWorkload,
  type ReleasePlan,
  type ReplacedObject,
} from './release-plan.ts'
import { refuseRouteClashes } from './route-clashes.ts'

/** What the cluster has under the prefix before a release. */
interface Observed {
  deployments: readonly ClusterObject[]
  jobs: readonly ClusterObject[]
  pods: readonly ClusterObject[]
  replicaSets: readonly ClusterObject[]
}

/**
 * Reads what exists under the prefix and decides what happens with it. Nothing is changed.
 *
 * @throws PlanError when an object of anybody else has a name that the release needs
 */
export async function planRelease(
  { node, owner, release }: ReleaseContext,
  resolved: readonly ResolvedWorkload[],
): Promise<ReleasePlan> {
  const { cluster } = node
  const foreignNamespaces = listForeignNamespaces(node, release)
  const use = await assertNamespace(cluster, owner.prefix, { owner, foreignNamespaces })
  checkPodLabels(
    resolved.map(({ desired }) => desired),
    use,
  )
  const observed = await observe(cluster, owner.prefix)
  const drifted = release.takeBackFields ? await findDrift(cluster, release, resolved) : []
  const changed = new Set(drifted.map(({ instanceId }) => instanceId))
  const workloads = await allOrFirstError(
    resolved.map((workload) =>
      planWorkload(cluster, release, workload, { ...observed, hasDrift: changed.has(workload.instanceId) }),
    ),
  )
  await refuseRouteClashes(cluster, release, resolved)
  const ending = findLeaving(release, resolved, workloads, observed)
  const leaving = ending.map(({ kind, labels, name }) => ({
    kind: kind === 'Job' ? ('Job' as const) : ('Deployment' as const),
    name,
    instanceId: labels[label.instance] ?? '',
  }))
  return {
    engine: 'kubernetes',
    namespace: owner.prefix,
    workloads: await Promise.all(workloads.map((workload) => withStopped(cluster, workload, { resolved, ending }))),
    leaving,
    config: listConfig(resolved, { workloads, leaving }, observed),
  }
}

async function withStopped(
  cluster: Cluster,
  workload: PlannedWorkload,
  { ending, resolved }: { ending: readonly ClusterObject[]; resolved: readonly ResolvedWorkload[] },
): Promise<PlannedWorkload> {
  const one = resolved.find(({ instanceId }) => instanceId === workload.instanceId)
  if (!one || workload.mode === 'keep') return workload
  return { ...workload, objects: [...workload.objects, ...(await planStopped(cluster, one, ending))] }
}

/** What the workloads that change or end name in any of their revisions, and what they will name. */
function listConfig(
  resolved: readonly ResolvedWorkload[],
  { leaving, workloads }: Pick<ReleasePlan, 'leaving' | 'workloads'>,
  { deployments, jobs, replicaSets }: Observed,
): ConfigRef[] {
  const changing = new Set(workloads.flatMap(({ instanceId, mode }) => (mode === 'keep' ? [] : [instanceId])))
  const ending = new Set(leaving.map(({ instanceId }) => instanceId))
  const after = resolved.filter(({ instanceId }) => changing.has(instanceId))
  // A container of an earlier version has the same name and another instance.
  const names = new Set(after.map(({ desired }) => desired.config.name))
  const before = [...deployments, ...jobs, ...replicaSets].filter(({ labels }) => {
    const instanceId = labels[label.instance] ?? ''
    return changing.has(instanceId) || ending.has(instanceId) || names.has(labels[label.name] ?? '')
  })
  const refs = [
    ...before.flatMap(listConfigRefs),
    ...after.flatMap(({ manifests }) => listConfigRefs({ fields: manifests.workload })),
  ]
  return [...new Map(refs.map((ref) => [`${ref.kind}/${ref.name}`, ref])).values()]
}

async function observe(cluster: Cluster, namespace: string): Promise<Observed> {
  const list = async (kind: 'Deployment' | 'Job' | 'Pod' | 'ReplicaSet') =>
    (await cluster.list(kind, { namespace })).objects
  const [deployments, jobs, pods, replicaSets] = await Promise.all([
    list('Deployment'),
    list('Job'),
    list('Pod'),
    list('ReplicaSet'),
  ])
  return { deployments, jobs, pods, replicaSets }
}

async function planWorkload(
  cluster: Cluster,
  release: Release,
  { desired, instanceId, manifests }: ResolvedWorkload,
  observed: Observed & { hasDrift: boolean },
): Promise<PlannedWorkload> {
  const { owner } = release
  if (!owner) throw new Error('the release names no owner')
  const { workload } = manifests
  const kind = workload.kind === 'Job' ? 'Job' : 'Deployment'
  const same = kind === 'Job' ? observed.jobs : observed.deployments
  const existing = same.find(({ name }) => name === workload.metadata.name)
  if (existing) assertOwned(existing, owner, instanceId)
  const objects: ReplacedObject[] = []
  let isComplete = true
  for (const manifest of [workload, manifests.service, manifests.ingress, manifests.serviceMonitor]) {
    if (!manifest) continue
    const { exists, replaced } = await toReplaced(cluster, manifest, release, { desired, instanceId, manifests })
    objects.push(replaced)
    isComplete &&= exists
  }
  const mayKeep = isComplete && !release.recreate && !observed.hasDrift
  if (existing && mayKeep && isUnchanged(existing, workload, observed))
    return { instanceId, name: workload.metadata.name, kind, mode: 'keep', objects: [] }
  for (const claim of manifests.claims) {
    const found = await cluster.get(toRef(claim))
    if (!found) continue
    assertOwned(found, owner, instanceId)
    assertClaimFits(found, desired)
  }
  await refuseForeignCertificate(cluster, manifests.ingress, instanceId)
  return { instanceId, name: workload.metadata.name, kind, mode: existing ? 'replace' : 'first', objects }
}

async function toReplaced(
  cluster: Cluster,
  manifest: Manifest,
  { owner, takeBackFields }: Release,
  workload: ResolvedWorkload,
): Promise<{ exists: boolean; replaced: ReplacedObject }> {
  const { kind } = manifest
  const { instanceId } = workload
  if (!owner) throw new Error('the release names no owner')
  if (!isReplacedKind(kind)) throw new PlanError(instanceId, `a release does not create a ${kind}`)
  const found = await cluster.getOwned(toRef(manifest))
  const { name } = manifest.metadata
  if (!found) return { exists: false, replaced: { kind, name } }
  assertOwned(found.object, owner, instanceId)
  const previous = takeBackFields ? await readTakenBack(cluster, manifest, workload) : found.manifest
  return { exists: true, replaced: { kind, name, ...(previous && { previous }) } }
}

/** What other programs have changed is put back as they have left it, when the release fails. */
async function readTakenBack(
  cluster: Cluster,
  manifest: Manifest,
  workload: ResolvedWorkload,
): Promise<Manifest | undefined> {
  const preview = await cluster.previewApply(manifest)
  if (!preview) return undefined
  return withHidingVariables(preview.previous, findHidingVariables(preview.found, manifest, listVariables(workload)))
}

const Certificates = z.object({ tls: z.array(z.object({ secretName: z.string().optional() })).default([]) })

/** cert-manager would replace the certificate that is in a Secret of the name. */
async function refuseForeignCertificate(
  cluster: Cluster,
  ingress: Manifest | undefined,
  instanceId: string,
): Promise<void> {
  const { tls } = Certificates.safeParse(ingress?.spec).data ?? { tls: [] }
  for (const { secretName: name } of tls) {
    if (name === undefined) continue
    const namespace = ingress?.metadata.namespace ?? ''
    const found = await cluster.get({ kind: 'Secret', namespace, name })
    if (found && found.annotations['cert-manager.io/certificate-name'] !== name)
      throw new PlanError(
        instanceId,
        `the namespace ${namespace} has a Secret named ${name} that is not of this deployment: choose another name for the container, or delete the Secret`,
      )
  }
}

/** The same image and final configuration, running as it should. One that was stopped, or that fails, is applied again. */
function isUnchanged(existing: ClusterObject, manifest: Manifest, { pods, replicaSets }: Observed): boolean {
  const wanted = manifest.metadata.labels?.[label.configHash] ?? manifest.metadata.annotations?.[label.configHash]
  const has = existing.labels[label.configHash] ?? existing.annotations[label.configHash]
  if (wanted === undefined || has !== wanted || existing.deletedAt) return false
  const seen = { workload: existing, replicaSets, pods, events: [] }
  if (manifest.kind === 'Job') return judgeJob(seen, 0).kind === 'ready'
  const { generation } = existing
  return (
    getReplicas(existing.fields) === getReplicas(manifest) &&
    judgeDeployment(seen, { generation, ranBefore: true }).kind === 'ready'
  )
}

function getReplicas(fields: Readonly<Record<string, unknown>>): unknown {
  const { spec } = fields
  return typeof spec === 'object' && spec !== null && 'replicas' in spec ? spec.replicas : undefined
}

/**
 * Workloads of previous releases that no instance of this one takes over, and those that an instance, or a container of the same name in any
 * version, had under another name or kind: each release has a Job of its own name.
 */
function findLeaving(
  release: Release,
  resolved: readonly ResolvedWorkload[],
  workloads: readonly PlannedWorkload[],
  { deployments, jobs }: Observed,
): ClusterObject[] {
  const { owner } = release
  const previous = new Set(release.previous.map(({ containerName }) => containerName))
  const instances = new Set(workloads.map(({ instanceId }) => instanceId))
  const names = new Set(resolved.map(({ desired }) => desired.name))
  return [...deployments, ...jobs].filter(({ kind, labels, name }) => {
    if (owner === undefined || !isOwnedBy({ ...labels }, owner)) return false
    if (workloads.some((workload) => workload.kind === kind && workload.name === name)) return false
    const ownName = labels[label.name] ?? name
    if (instances.has(labels[label.instance] ?? '') || names.has(ownName)) return true
    return !release.partial && (release.takeBackFields || previous.has(fullName(owner.prefix, ownName)))
  })
}
