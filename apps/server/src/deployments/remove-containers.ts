import { CruxError } from '@crux/contract'
import { nodeTakesCommands } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { containerCommanded, engineScope } from '../nodes/index.ts'
import { markRemoved, type RunningTarget } from './running-target-store.ts'

/**
 * Removes the containers at these targets, but only if all of them can be removed. Removed containers are no longer
 * recorded as running, even if the removal fails at another target.
 *
 * @throws CruxError preconditionFailed `nodeId` or `status` before anything is removed: a node is unavailable, or a
 *   release takes containers over
 * @throws CruxError preconditionFailed `containers` when an agent failed, with what was removed and what was not
 */
export async function removeContainers(app: App, caller: Caller, targets: readonly RunningTarget[]): Promise<void> {
  refuseUnremovable(app, targets)
  const results = await Promise.allSettled(targets.map((target) => removeAt(app, caller, target)))
  const failures = results.flatMap((result, index) => {
    const target = targets[index]
    return result.status === 'rejected' && target ? [{ target, error: result.reason }] : []
  })
  const [first] = failures
  if (!first) return
  // With one target the error of the agent or the link says everything.
  if (targets.length === 1) throw first.error
  const removed = targets.filter((target) => !failures.some((failure) => failure.target === target))
  const sentences = [
    `Not removed: ${failures.map(({ target, error }) => `${toText(target)} (${getMessage(error)})`).join(', ')}.`,
    ...(removed.length > 0 ? [`Removed: ${removed.map(toText).join(', ')}.`] : []),
    'Nothing else was deleted: try again.',
  ]
  throw new CruxError('preconditionFailed', {
    property: 'containers',
    description: sentences.join(' '),
    cause: first.error,
  })
}

function refuseUnremovable(app: App, targets: readonly RunningTarget[]): void {
  const replaced = targets.find(({ replacedBy }) => replacedBy !== null)
  if (replaced)
    throw new CruxError('preconditionFailed', {
      property: 'status',
      description: `${replaced.replacedBy} is taking over its containers: wait until it ends, or cancel it first.`,
    })
  const updating = targets.find(({ node }) => node.status === 'updating')
  const verdict = updating && nodeTakesCommands(updating.node)
  if (updating && verdict && !verdict.allowed)
    throw new CruxError('preconditionFailed', {
      property: 'nodeId',
      value: updating.node.id,
      description: `${verdict.reason}.`,
    })
  const unavailableNodes = [...new Map(targets.map(({ node }) => [node.id, node])).values()].filter(
    ({ id, status }) => status !== 'connected' || app.links.status(id) !== 'connected',
  )
  const [first] = unavailableNodes
  if (!first) return
  const names = unavailableNodes.map(({ name }) => name).join(', ')
  const [verb, whose, them] = unavailableNodes.length === 1 ? ['is', 'its', 'it'] : ['are', 'their', 'them']
  throw new CruxError('preconditionFailed', {
    property: 'nodeId',
    value: first.id,
    description: unavailableNodes.every(({ status }) => status === 'connected')
      ? `${names} ${verb} connected to another server process, so ${whose} containers cannot be removed from here: keep them, or try again.`
      : `${names} ${verb} not connected, so ${whose} containers cannot be removed: keep them, or connect ${them} first.`,
  })
}

async function removeAt(app: App, { team, actor }: Caller, target: RunningTarget): Promise<void> {
  const { projectId, prefix, releaseId } = target
  const owner = { teamId: team.id, projectId, nodeId: target.node.id, prefix }
  const scope = await engineScope(app, owner)
  await app.links.request(owner.nodeId, { case: 'deleteContainers', value: { owner, scope } })
  await markRemoved(app.database.pool, releaseId)
  await containerCommanded(app, owner, { prefix, operation: 'deleteContainers' }, actor)
}

export const toRunningContainers = ({ node, prefix, versionName, containers }: RunningTarget) => ({
  node,
  prefix,
  versionName,
  containers,
})

/** A text for a refusal after the containers were removed, e.g. because a start came in between. */
export const toRemovedText = (removed: readonly RunningTarget[]): string =>
  removed.length === 0 ? '' : ` The containers that ran before are removed: ${removed.map(toText).join(', ')}.`

const toText = ({ prefix, node }: RunningTarget) => `${prefix} on ${node.name}`
const getMessage = (error: unknown) => (error instanceof Error ? error.message : String(error))
