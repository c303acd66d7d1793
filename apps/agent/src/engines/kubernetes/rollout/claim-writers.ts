import { findExclusiveClaim } from '@crux/rules'
import { z } from 'zod'
import { pause } from '../../../concurrency/pause.ts'
import { isOwnedBy, releaseLabels } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import { type Cluster, type ClusterObject, type Manifest, toRef } from '../cluster/cluster.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'
import { putObject } from './own-objects.ts'
import type { ReleaseContext } from './release-context.ts'
import type { PlannedWorkload, ReplacedObject } from './release-plan.ts'
import { RolloutError } from './rollout-error.ts'
import { getGraceSeconds, readClaims, readPod } from './status.ts'

const pollMs = 250
/** Beyond the time that a pod has to end. */
const spareMs = 60_000

const Spec = z.object({
  replicas: z.number().optional(),
  template: z.object({ spec: z.record(z.string(), z.unknown()) }),
})
const listTemplateClaims = ({ spec }: Readonly<Record<string, unknown>>): string[] =>
  readClaims({ fields: { spec: Spec.safeParse(spec).data?.template.spec } })

/**
 * Stops the Deployments that end with the release and use a claim of the workload that only one pod may write, and waits until no other pod of
 * the owner uses it. A Deployment that is replaced by another one of its name ends its own pods before it starts new ones.
 *
 * @throws RolloutError with the name of a pod that does not end
 */
export async function freeClaims(
  context: ReleaseContext,
  { desired, instanceId, manifests }: ResolvedWorkload,
  planned: PlannedWorkload | undefined,
): Promise<void> {
  if (!findExclusiveClaim(desired.config)) return
  const { node, owner, progressReporter, signal } = context
  for (const { previous } of planned ? listStopped(planned) : []) {
    if (!previous) continue
    const stop = () => putObject(node.cluster, toStopped(previous, context), owner, { instanceId, signal, takeBack })
    await retryWhileUnavailable(stop, signal, { progressReporter, instanceId })
  }
  await awaitUnusedClaims(context, manifests.workload, { instanceId, signal })
}

/** They end with the release in any case, whatever another program has set there. */
export const takeBack = { variables: new Set<string>() }

/** The Deployments that stop before the workload starts, and that are put back when the release fails. */
export const listStopped = ({ kind, name, objects }: PlannedWorkload): ReplacedObject[] =>
  objects.filter((object) => object.kind === 'Deployment' && (kind !== 'Deployment' || object.name !== name))

/** What `listStopped` returns later: Deployments that end with the release, and use a claim of a workload that has one writer. */
export async function planStopped(
  cluster: Pick<Cluster, 'getOwned'>,
  { desired, manifests }: ResolvedWorkload,
  leaving: readonly ClusterObject[],
): Promise<ReplacedObject[]> {
  if (!findExclusiveClaim(desired.config)) return []
  const claims = new Set(manifests.claims.map(({ metadata }) => metadata.name))
  const stopped = leaving.filter(
    ({ fields, kind }) => kind === 'Deployment' && listTemplateClaims(fields).some((claim) => claims.has(claim)),
  )
  return Promise.all(
    stopped.map(async ({ fields, labels, name, namespace }) => {
      const found = await cluster.getOwned({ kind: 'Deployment', namespace, name })
      const replicas = Spec.safeParse(fields.spec).data?.replicas ?? 1
      const metadata = { name, namespace, labels: { ...labels } }
      const previous = found?.manifest ?? { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } }
      return { kind: 'Deployment', name, previous }
    }),
  )
}

/** It names the release, so that it is put back when the release fails. */
function toStopped({ metadata, spec, ...rest }: Manifest, { release }: ReleaseContext): Manifest {
  return {
    ...rest,
    metadata: { ...metadata, labels: { ...metadata.labels, ...releaseLabels(release) } },
    spec: { ...Object(spec), replicas: 0 },
  }
}

/** Waits until no pod of the owner but those of the workload itself uses its claims. What others attach a claim to is up to them. */
export async function awaitUnusedClaims(
  context: ReleaseContext,
  workload: Manifest,
  { instanceId, signal }: { instanceId: string; signal: AbortSignal },
): Promise<void> {
  const claims = new Set(listTemplateClaims(workload))
  const startedAt = performance.now()
  for (;;) {
    const users = await retryWhileUnavailable(() => listUsers(context, workload, claims), signal, context)
    const [first] = users
    if (!first) return
    const limitMs = Math.max(...users.map(getGraceSeconds)) * 1_000 + spareMs
    if (performance.now() - startedAt > limitMs)
      throw new RolloutError(
        instanceId,
        `the pod ${first.name} uses a volume of the container that one pod may write, and does not end: delete it, or check its machine and its finalizers`,
      )
    await pause(pollMs, signal)
  }
}

async function listUsers(
  { node, owner }: ReleaseContext,
  workload: Manifest,
  claims: ReadonlySet<string>,
): Promise<ClusterObject[]> {
  const filter = { namespace: owner.prefix }
  const [own, pods, sets] = await Promise.all([
    node.cluster.get(toRef(workload)),
    node.cluster.list('Pod', filter),
    node.cluster.list('ReplicaSet', filter),
  ])
  const isOfAny = ({ owners }: ClusterObject, uids: ReadonlySet<string>) => owners.some(({ uid }) => uids.has(uid))
  const parents = new Set(own ? [own.uid] : [])
  for (const set of sets.objects.filter((one) => isOfAny(one, parents))) parents.add(set.uid)
  return pods.objects.filter((pod) => {
    const phase = readPod(pod)?.phase ?? ''
    const hasEnded = phase === 'Succeeded' || phase === 'Failed'
    if (hasEnded || isOfAny(pod, parents) || !isOwnedBy({ ...pod.labels }, owner)) return false
    return readClaims(pod).some((claim) => claims.has(claim))
  })
}
