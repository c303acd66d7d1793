import { getMessage } from '../../../errors.ts'
import { crashLoopReason, enterPosition } from '../../../journal/crash-loop.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { isOwnedBy, label } from '../../labels.ts'
import { fullName } from '../../names.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { ClusterObject, ObjectKind } from '../cluster/cluster.ts'
import { listServed } from '../cluster/list-served.ts'
import type { ReleaseContext } from './release-context.ts'
import { getPlan, type ReleasePlan } from './release-plan.ts'
import { findUnusedConfig } from './unused-config.ts'

/** Kinds of objects that belong to one workload and are found by its instance. Claims are not among them: they may hold data. */
const dependentKinds = ['Ingress', 'ServiceMonitor', 'Service'] as const satisfies ObjectKind[]

/** Reports the success, then deletes what the release replaced. No failure of a deletion takes the success back. */
export async function succeedAndCleanUp(context: ReleaseContext): Promise<void> {
  const { control, journal, node, progressReporter } = context
  const plan = getPlan(journal)
  if (!plan) throw new Error('a release that has taken over has a plan')
  if (!journal.outcome) succeed(context, plan)
  const reason = crashLoopReason(journal)
  if (reason)
    progressReporter.warn('', `${reason}: objects of the previous release that are left must be deleted by hand`)
  else {
    await enterPosition(journal, 'clean-up').catch((error) =>
      node.log.warn({ reason: getMessage(error) }, 'a position is not written yet'),
    )
    await cleanUp(context, plan).catch((error: unknown) => {
      control.ending.throwIfAborted()
      progressReporter.warn('', `not everything of the previous release could be deleted: ${getMessage(error)}`)
    })
  }
  for (const { instanceId, mode } of plan.workloads)
    if (mode === 'replace') progressReporter.done(instanceId, Phase.CLEAN_UP)
  progressReporter.cleanUpEnd()
}

function succeed({ owner, progressReporter, release }: ReleaseContext, { workloads }: ReleasePlan): void {
  for (const { instanceId, mode } of workloads) {
    if (mode === 'replace') progressReporter.running(instanceId, Phase.CLEAN_UP)
    else progressReporter.skipped(instanceId, Phase.CLEAN_UP)
  }
  const names = new Map(release.instances.map(({ configJson, instanceId }) => [instanceId, readName(configJson)]))
  progressReporter.outcome({
    successful: true,
    containerNames: workloads.map(({ instanceId, name }) => fullName(owner.prefix, names.get(instanceId) ?? name)),
  })
}

/** The configuration was parsed when the release was planned. */
function readName(configJson: string): string | undefined {
  const config: unknown = JSON.parse(configJson)
  return typeof config === 'object' && config !== null && 'name' in config && typeof config.name === 'string'
    ? config.name
    : undefined
}

async function cleanUp(context: ReleaseContext, plan: ReleasePlan): Promise<void> {
  const { control, node, owner, progressReporter } = context
  const remove = async (kind: ObjectKind, name: string, uid?: string) => {
    try {
      const ref = { kind, namespace: owner.prefix, name }
      await retryWhileUnavailable(
        () => node.cluster.delete(ref, uid === undefined ? {} : { uid }),
        control.ending,
        context,
      )
    } catch (error) {
      control.ending.throwIfAborted()
      progressReporter.warn('', `the ${kind} ${name} could not be deleted: ${getMessage(error)}`)
    }
  }
  for (const { kind, name } of plan.leaving) {
    const found = await retryWhileUnavailable(
      () => node.cluster.get({ kind, namespace: owner.prefix, name }),
      control.ending,
      context,
    )
    if (found && isOwnedBy({ ...found.labels }, owner)) await remove(kind, name, found.uid)
  }
  for (const object of await findUnused(context, plan)) await remove(object.kind, object.name, object.uid)
  for (const object of await findUnusedConfig(context, plan.config)) await remove(object.kind, object.name, object.uid)
}

/** Routes and ports of this deployment's workloads that the configuration no longer has. */
async function findUnused(context: ReleaseContext, plan: ReleasePlan): Promise<ClusterObject[]> {
  const { control, node, owner, release } = context
  const { cluster } = node
  const gone = new Set(plan.leaving.map(({ instanceId }) => instanceId))
  const changed = new Set(plan.workloads.flatMap(({ instanceId, mode }) => (mode === 'keep' ? [] : [instanceId])))
  // Objects of an earlier version have the name of the container, and another instance.
  const names = new Set(
    release.instances.flatMap(({ configJson, instanceId }) => (changed.has(instanceId) ? readName(configJson) : [])),
  )
  const kept = new Set(plan.workloads.flatMap(({ objects }) => objects.map(({ kind, name }) => `${kind}/${name}`)))
  const isUnused = ({ kind, labels, name }: ClusterObject) => {
    const instanceId = labels[label.instance] ?? ''
    const isChanged = changed.has(instanceId) || names.has(labels[label.name])
    const isOfNone = release.takeBackFields && !plan.workloads.some((workload) => workload.instanceId === instanceId)
    const isOfThis = isChanged || ((gone.has(instanceId) || isOfNone) && !release.partial)
    return isOfThis && isOwnedBy({ ...labels }, owner) && !kept.has(`${kind}/${name}`)
  }
  const unused: ClusterObject[] = []
  for (const kind of dependentKinds) {
    const objects = await retryWhileUnavailable(
      () => listServed(cluster, kind, { namespace: owner.prefix }),
      control.ending,
      context,
    )
    unused.push(...objects.filter(isUnused))
  }
  return unused
}
