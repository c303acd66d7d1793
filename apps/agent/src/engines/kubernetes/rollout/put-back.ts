import { getMessage, isEngineError } from '../../../errors.ts'
import { isOfRelease, label } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import { awaitUnusedClaims, listStopped, takeBack } from './claim-writers.ts'
import { NamespaceView } from './namespace-view.ts'
import { assertOwned, putObject } from './own-objects.ts'
import { previousWorkloadsRun } from './previous-workloads.ts'
import type { ReleaseContext } from './release-context.ts'
import type { PlannedWorkload, ReleasePlan, ReplacedObject } from './release-plan.ts'
import { findUnusedConfig } from './unused-config.ts'
import { type AppliedWorkload, awaitReady } from './verify.ts'

/** How long the previous pods may take to be ready again. The outcome says whether they are; the cluster goes on in any case. */
const restoreMs = 120_000
/** A pod of the previous release was verified once: only its end needs no more time. */
const noTime = { windowMs: 0, timeoutMs: 0, runMs: 0 }

/**
 * Brings back what the release changed and deletes what it created. Every step reads the cluster first, so that it may be repeated. Claims
 * stay: they may hold data. Waits while the cluster does not answer.
 */
export async function putBack(
  context: ReleaseContext,
  plan: ReleasePlan | undefined,
): Promise<{ problems: string[]; previousRestored: boolean }> {
  const { control, node, owner, progressReporter } = context
  const changed = plan?.workloads.filter(({ mode }) => mode !== 'keep') ?? []
  const attempts = await Promise.all(
    changed.flatMap((workload) => workload.objects.map((object) => tryPutBack(context, object, workload))),
  )
  const problems = attempts.flatMap(({ problem }) => problem ?? [])
  const restored = attempts.flatMap(({ applied }) => applied ?? [])
  if (restored.length > 0) {
    const view = new NamespaceView(node.cluster, owner.prefix)
    const limit = AbortSignal.any([control.ending, AbortSignal.timeout(restoreMs)])
    try {
      // Somebody may delete what was just put back.
      const results = await Promise.all(restored.map((applied) => awaitReady(view, applied, limit).catch(getMessage)))
      control.ending.throwIfAborted()
      for (const [index, reason] of results.entries())
        if (reason) problems.push(`${restored[index]?.object.name} is put back, but ${reason}`)
    } finally {
      view.close()
    }
  }
  await deleteUnusedConfig(context, plan).catch((error: unknown) => {
    control.ending.throwIfAborted()
    node.log.warn({ reason: getMessage(error) }, 'config of a failed release is left')
  })
  for (const problem of problems) progressReporter.error('', `could not be put back: ${problem}`)
  const previousRestored = problems.length === 0 && (await previousRun(context, plan))
  return { problems, previousRestored }
}

/** What the release made, as far as no revision that the cluster keeps names it. */
async function deleteUnusedConfig(context: ReleaseContext, plan: ReleasePlan | undefined): Promise<void> {
  const { control, node } = context
  for (const { kind, name, namespace, uid } of await findUnusedConfig(context, plan?.config ?? []))
    await retryWhileUnavailable(() => node.cluster.delete({ kind, name, namespace }, { uid }), control.ending, context)
}

/**
 * What the cluster refuses about one object keeps no other one from being put back.
 *
 * @returns the Deployment that the previous release had, as it is applied again, or what went wrong
 */
async function tryPutBack(
  context: ReleaseContext,
  object: ReplacedObject,
  workload: PlannedWorkload,
): Promise<{ applied?: AppliedWorkload; problem?: string }> {
  const { control, progressReporter } = context
  const { instanceId } = workload
  const report = { progressReporter, instanceId }
  try {
    const wasStopped = listStopped(workload).includes(object)
    if (wasStopped && object.previous)
      await awaitUnusedClaims(context, object.previous, { instanceId, signal: control.ending })
    const work = () => putBackObject(context, object, { instanceId, wasStopped })
    const again = await retryWhileUnavailable(work, control.ending, report)
    return again?.kind === 'Deployment' ? { applied: { instanceId, object: again, exitCode: 0, ...noTime } } : {}
  } catch (error) {
    control.ending.throwIfAborted()
    return { problem: `the ${object.kind} ${object.name}: ${getMessage(error)}` }
  }
}

async function putBackObject(
  context: ReleaseContext,
  { kind, name, previous }: ReplacedObject,
  { instanceId, wasStopped }: { instanceId: string; wasStopped: boolean },
) {
  const { control, node, owner, release } = context
  const ref = { kind, namespace: owner.prefix, name }
  const found = await node.cluster.get(ref)
  if (previous) {
    // A Job that ran before has ended or goes on: it has a name of its own for each release.
    if (kind === 'Job') return undefined
    // A release names itself with everything that it changes. What it has not changed yet may have been changed by somebody else.
    const isUntouched = found !== undefined && !found.deletedAt && !isOfRelease({ ...found.labels }, release.key)
    if (isUntouched && found.labels[label.release] === previous.metadata.labels?.[label.release]) return found
    const options = { instanceId, signal: control.ending, ...((release.takeBackFields || wasStopped) && { takeBack }) }
    return putObject(node.cluster, previous, owner, options)
  }
  if (!found || !isOfRelease({ ...found.labels }, release.key)) return undefined
  assertOwned(found, owner, instanceId)
  await node.cluster.delete(ref, { uid: found.uid })
  return undefined
}

/** Where the cluster refuses to show what runs, nobody can say that the previous release does. */
async function previousRun(context: ReleaseContext, plan: ReleasePlan | undefined): Promise<boolean> {
  const { control, node, release } = context
  try {
    return await retryWhileUnavailable(() => previousWorkloadsRun(node.cluster, release, plan), control.ending, context)
  } catch (error) {
    if (!isEngineError(error, 'refused')) throw error
    return false
  }
}
