import { getMessage, isEngineError } from '../../../errors.ts'
import { isOfRelease, label } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
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
  const problems: string[] = []
  const restored: AppliedWorkload[] = []
  await Promise.all(
    changed.map(async (workload) => {
      try {
        restored.push(...(await putBackWorkload(context, workload)))
      } catch (error) {
        control.ending.throwIfAborted()
        problems.push(`${workload.name}: ${getMessage(error)}`)
      }
    }),
  )
  if (restored.length > 0) {
    const view = new NamespaceView(node.cluster, owner.prefix)
    const limit = AbortSignal.any([control.ending, AbortSignal.timeout(restoreMs)])
    try {
      const results = await Promise.all(restored.map((applied) => awaitReady(view, applied, limit)))
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

/** @returns the Deployments that the previous release had, as they are applied again */
async function putBackWorkload(context: ReleaseContext, workload: PlannedWorkload): Promise<AppliedWorkload[]> {
  const { instanceId, objects } = workload
  const applied: AppliedWorkload[] = []
  for (const object of objects) {
    const { control, progressReporter } = context
    const again = await retryWhileUnavailable(() => putBackObject(context, object, instanceId), control.ending, {
      progressReporter,
      instanceId,
    })
    if (again?.kind === 'Deployment') applied.push({ instanceId, object: again, exitCode: 0, ...noTime })
  }
  return applied
}

async function putBackObject(context: ReleaseContext, { kind, name, previous }: ReplacedObject, instanceId: string) {
  const { control, node, owner, release } = context
  const ref = { kind, namespace: owner.prefix, name }
  const found = await node.cluster.get(ref)
  if (previous) {
    // A Job that ran before has ended or goes on: it has a name of its own for each release.
    if (kind === 'Job') return undefined
    // A release names itself with everything that it changes. What it has not changed yet may have been changed by somebody else.
    const isUntouched = found !== undefined && !found.deletedAt && !isOfRelease({ ...found.labels }, release.key)
    if (isUntouched && found.labels[label.release] === previous.metadata.labels?.[label.release]) return found
    const takeBack = release.takeBackFields ? { takeBack: { variables: new Set<string>() } } : {}
    return putObject(node.cluster, previous, owner, { instanceId, signal: control.ending, ...takeBack })
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
