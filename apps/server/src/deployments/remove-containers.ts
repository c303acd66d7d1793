import { CruxError, type NodeStatus } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'
import { containerCommanded, engineScope, statusOf } from '../nodes/index.ts'

/** A deployment target where containers of a current release run, by the records. */
export type RunningTarget = {
  releaseId: string
  projectId: string
  prefix: string
  versionName: string
  /** The full names of the containers. */
  containers: string[]
  node: { id: string; name: string; status: NodeStatus }
  /** The version that is currently taking these containers over. */
  replacedBy: string | null
}

const columns = {
  deployment: 's.deployment_id',
  version: 'd.version_id',
  project: 'd.project_id',
} as const

/**
 * The deployment targets of the current releases of a deployment, a version or a project. The prefix is the release's,
 * because the deployment's own may have been changed since.
 */
export async function listRunning(queries: Queries, of: keyof typeof columns, id: string): Promise<RunningTarget[]> {
  type Row = Omit<RunningTarget, 'node'> & {
    node: { id: string; name: string; linkServer: string | null; agentVersion: string | null }
  }
  const { rows } = await queries.query<Row>({
    name: `running of ${of}`,
    text: `select s.id as release_id, s.project_id, s.prefix, s.version_name,
        s.container_names as containers,
        json_build_object('id', n.id, 'name', n.name, 'linkServer', n.link_server, 'agentVersion', n.agent_version) as node,
        (select o.version_name from crux.release o where o.node_id = s.node_id and o.prefix = s.prefix
          and o.project_id = s.project_id and o.status = 'in-progress' limit 1) as replaced_by
      from crux.deployment d join crux.release s on s.deployment_id = d.id join crux.node n on n.id = s.node_id
      where ${columns[of]} = $1 and s.current and s.container_names <> '[]'
      order by n.name, s.prefix`,
    values: [id],
  })
  return rows.map(({ node: { linkServer, agentVersion, ...node }, ...row }) => ({
    ...row,
    node: { ...node, status: statusOf({ linkServer, agentVersion }) },
  }))
}

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
    `Not removed: ${failures.map(({ target, error }) => `${toText(target)} (${messageOf(error)})`).join(', ')}.`,
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
  const away = [...new Map(targets.map(({ node }) => [node.id, node])).values()].filter(
    ({ id, status }) => status !== 'connected' || app.links.status(id) !== 'connected',
  )
  const [first] = away
  if (!first) return
  const names = away.map(({ name }) => name).join(', ')
  const [verb, whose, them] = away.length === 1 ? ['is', 'its', 'it'] : ['are', 'their', 'them']
  throw new CruxError('preconditionFailed', {
    property: 'nodeId',
    value: first.id,
    description: away.every(({ status }) => status === 'connected')
      ? `${names} ${verb} connected to another server process, so ${whose} containers cannot be removed from here: keep them, or try again.`
      : `${names} ${verb} not connected, so ${whose} containers cannot be removed: keep them, or connect ${them} first.`,
  })
}

async function removeAt(app: App, { team, actor }: Caller, target: RunningTarget): Promise<void> {
  const { projectId, prefix, releaseId } = target
  const owner = { teamId: team.id, projectId, nodeId: target.node.id, prefix }
  const scope = await engineScope(app, owner)
  await app.links.request(owner.nodeId, { case: 'deleteContainers', value: { owner, scope } })
  await app.database.pool.query(
    `update crux.release set current = false, container_names = '[]' where id = $1 and current`,
    [releaseId],
  )
  await containerCommanded(app, owner, { prefix, operation: 'deleteContainers' }, { id: actor.id, name: actor.name })
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
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
