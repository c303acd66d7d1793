import { setMaxListeners } from 'node:events'
import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { AbortedError, getMessage, PlanError } from '../../../errors.ts'
import { enterPosition } from '../../../journal/crash-loop.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { toExpectation } from '../../expectation.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { ClusterObject, Manifest } from '../cluster/cluster.ts'
import { hasOtherData, listVariables } from '../drift/find-drift.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'
import { hasPreparation, preparationSeconds } from '../plan/preparation.ts'
import { toRolloutStages } from '../plan/rollout-order.ts'
import { checkPodLabels, listForeignNamespaces } from './check-namespace.ts'
import { freeClaims } from './claim-writers.ts'
import { assertClaimFits, listKeptSettings } from './existing-claims.ts'
import { NamespaceView } from './namespace-view.ts'
import { ensureNamespace, ensureObject, putObject } from './own-objects.ts'
import type { ReleaseContext } from './release-context.ts'
import type { ReleasePlan } from './release-plan.ts'
import { reportUnavailable } from './report-unavailable.ts'
import { refuseRouteClashes } from './route-clashes.ts'
import { verifyWorkload } from './verify.ts'

/** In how many parts the pods of a workload are replaced, at most. */
const quarters = 4
/** How many workloads roll out at once. A small cluster would not start hundreds of pods before the deadline of the last one. */
const rolloutsMax = 40

/**
 * Creates what the workloads need, applies them in the release's order and waits until all of them are verified. May be repeated after a
 * restart: what was applied already is applied again without an effect.
 */
export async function applyWorkloads(
  context: ReleaseContext,
  plan: ReleasePlan,
  workloads: readonly ResolvedWorkload[],
): Promise<void> {
  const { control, journal, node, owner, progressReporter, release, signal } = context
  const changing = workloads.filter((workload) => getMode(plan, workload) !== 'keep')
  for (const { instanceId } of workloads.filter((workload) => !changing.includes(workload)))
    for (const phase of [Phase.PULL, Phase.CREATE, Phase.START, Phase.VERIFY, Phase.SWAP])
      progressReporter.skipped(instanceId, phase, 'unchanged')
  await enterPosition(journal, 'create')
  await createNamespace(context, workloads)
  await allOrFirstError(changing.map((workload) => createDependencies(context, workload)))
  if (changing.length === 0) return
  await control.mayProceed(signal)
  // From here on pods are replaced: the journal must survive any failure, so that the previous ones come back.
  await journal.secure()
  await enterPosition(journal, 'start')
  const view = new NamespaceView(node.cluster, owner.prefix)
  const endReports = reportUnavailable(context)
  try {
    await rollOut(context, view, { plan, changing })
  } finally {
    endReports()
    view.close()
  }
  signal.throwIfAborted()
  await control.mayProceed(signal)
  await enterPosition(journal, 'handover')
  // Another release may have taken a route while the pods of this one started.
  await retryWhileUnavailable(() => refuseRouteClashes(node.cluster, release, changing), signal, context)
  await allOrFirstError(changing.map((workload) => finishWorkload(context, plan, workload)))
}

async function createNamespace(context: ReleaseContext, workloads: readonly ResolvedWorkload[]): Promise<void> {
  const { node, owner, release, signal } = context
  const [first] = workloads
  if (!first) return
  const use = { owner, foreignNamespaces: listForeignNamespaces(node, release) }
  const { namespace } = first.manifests
  const created = await retryWhileUnavailable(() => ensureNamespace(node.cluster, namespace, use), signal, context)
  // Somebody else may have made it since the release was planned.
  checkPodLabels(
    workloads.map(({ desired }) => desired),
    created,
  )
}

/** Config, secrets and claims, which a running pod of the previous release does not notice. */
async function createDependencies(context: ReleaseContext, workload: ResolvedWorkload): Promise<void> {
  const { desired, instanceId, manifests } = workload
  const { node, owner, progressReporter, release, signal } = context
  const { claims, configMap, preparationSecret, pullSecret, secret } = manifests
  const report = { progressReporter, instanceId }
  progressReporter.running(instanceId, Phase.CREATE)
  try {
    for (const manifest of [configMap, secret, pullSecret, preparationSecret]) {
      if (!manifest) continue
      const isUsable = (found: ClusterObject) => {
        if (!hasOtherData(found, manifest)) return true
        if (release.takeBackFields) return false
        throw new PlanError(instanceId, replacedSentence(found))
      }
      await retryWhileUnavailable(
        () => ensureObject(node.cluster, manifest, owner, instanceId, isUsable),
        signal,
        report,
      )
    }
    for (const claim of claims) {
      const ensure = () => ensureObject(node.cluster, claim, owner, instanceId)
      const found = await retryWhileUnavailable(ensure, signal, report)
      assertClaimFits(found, desired)
      for (const description of listKeptSettings(found, claim)) progressReporter.warn(instanceId, description)
    }
    progressReporter.done(instanceId, Phase.CREATE)
  } catch (error) {
    throw failed(context, instanceId, Phase.CREATE, error)
  }
}

const replacedSentence = ({ kind, name }: ClusterObject): string =>
  `another program has replaced the ${kind} ${name}, and it holds other values than those of the release: put the deployment back, or delete the ${kind}`

/** One stage after another; the first failure ends the waits of all others. */
async function rollOut(
  context: ReleaseContext,
  view: NamespaceView,
  { changing, plan }: { changing: readonly ResolvedWorkload[]; plan: ReleasePlan },
): Promise<void> {
  const failing = new AbortController()
  setMaxListeners(0, failing.signal)
  const inner: ReleaseContext = { ...context, signal: AbortSignal.any([context.signal, failing.signal]) }
  const slots = new Slots(rolloutsMax)
  let first: { error: unknown } | undefined
  for (const stage of toRolloutStages(changing.map(({ desired }) => desired))) {
    const work = changing
      .filter(({ instanceId }) => stage.includes(instanceId))
      .map((workload) =>
        slots
          .run(() => rollOutOne(inner, view, { plan, workload }), inner.signal)
          .catch((error: unknown) => {
            if (!first && !context.signal.aborted) first = { error }
            failing.abort(new AbortedError('cancelled'))
          }),
      )
    await Promise.all(work)
    context.signal.throwIfAborted()
    if (first) throw first.error
  }
}

async function rollOutOne(
  context: ReleaseContext,
  view: NamespaceView,
  { plan, workload }: { plan: ReleasePlan; workload: ResolvedWorkload },
): Promise<void> {
  const { progressReporter, release, signal } = context
  const { desired, instanceId, manifests } = workload
  signal.throwIfAborted()
  progressReporter.running(instanceId, Phase.START)
  let object: ClusterObject
  try {
    // A service that does not exist yet takes nothing from anybody, and the pods of others may already look for it.
    await putIfAbsent(context, manifests.service, instanceId)
    await freeClaims(context, workload, findPlanned(plan, workload))
    object = await put(context, manifests.workload, workload)
    progressReporter.done(instanceId, Phase.START)
  } catch (error) {
    throw failed(context, instanceId, Phase.START, error)
  }
  const expected = toExpectation(desired.config, release.observationWindowMs)
  const preparationMs = hasPreparation(desired.config) ? preparationSeconds * 1_000 : 0
  await verifyWorkload(
    view,
    {
      instanceId,
      object,
      exitCode: expected.exitCode,
      windowMs: expected.windowMs,
      // The cluster counts its deadline from the last progress, and replaces a quarter of the pods at a time.
      timeoutMs:
        object.kind === 'Job'
          ? expected.timeoutMs + preparationMs
          : (expected.timeoutMs + expected.windowMs + preparationMs) * Math.min(desired.config.replicas ?? 1, quarters),
      runMs: expected.timeoutMs,
    },
    progressReporter,
    signal,
  )
}

/** How other pods, clients and Prometheus reach the new pods. An address of a load balancer or an ingress may come hours later, or never. */
async function finishWorkload(context: ReleaseContext, plan: ReleasePlan, workload: ResolvedWorkload): Promise<void> {
  const { progressReporter } = context
  const { instanceId, manifests } = workload
  progressReporter.running(instanceId, Phase.SWAP)
  try {
    for (const manifest of [manifests.service, manifests.ingress, manifests.serviceMonitor])
      if (manifest) await put(context, manifest, workload)
  } catch (error) {
    throw failed(context, instanceId, Phase.SWAP, error)
  }
  if (getMode(plan, workload) === 'first')
    progressReporter.skipped(instanceId, Phase.SWAP, 'there was nothing to replace')
  else progressReporter.done(instanceId, Phase.SWAP)
}

async function putIfAbsent(context: ReleaseContext, manifest: Manifest | undefined, instanceId: string): Promise<void> {
  const { node, owner, progressReporter, signal } = context
  const report = { progressReporter, instanceId }
  if (manifest)
    await retryWhileUnavailable(() => ensureObject(node.cluster, manifest, owner, instanceId), signal, report)
}

function put(
  { node, owner, progressReporter, release, signal }: ReleaseContext,
  manifest: Manifest,
  workload: ResolvedWorkload,
): Promise<ClusterObject> {
  const { instanceId } = workload
  const options = {
    instanceId,
    signal,
    ...(release.takeBackFields && { takeBack: { variables: listVariables(workload) } }),
  }
  return retryWhileUnavailable(() => putObject(node.cluster, manifest, owner, options), signal, {
    progressReporter,
    instanceId,
  })
}

const findPlanned = ({ workloads }: ReleasePlan, { instanceId }: ResolvedWorkload) =>
  workloads.find((planned) => planned.instanceId === instanceId)
const getMode = (plan: ReleasePlan, workload: ResolvedWorkload) => findPlanned(plan, workload)?.mode ?? 'first'

function failed({ progressReporter }: ReleaseContext, instanceId: string, phase: Phase, error: unknown): unknown {
  if (error instanceof AbortedError) return error
  progressReporter.failed(instanceId, phase, getMessage(error))
  return error instanceof PlanError ? error : new PlanError(instanceId, getMessage(error), { cause: error })
}
