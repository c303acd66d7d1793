import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'
import type { Owner } from '../releases/index.ts'

type DeploymentTarget = Owner & { teamId: string }

/**
 * A hint to the agent that a start is likely: it creates the prefix's network now, which is slow in the engine. An
 * agent that is unavailable, or connected to another server process, creates it at the start.
 */
export function prepareTarget(app: Pick<App, 'links'>, { teamId, projectId, nodeId, prefix }: DeploymentTarget): void {
  app.links.send(nodeId, { case: 'preparePrefix', value: { owner: { teamId, projectId, nodeId, prefix } } })
}

/** Withdraws the hint. The agent keeps what containers use. */
export function releaseTarget(app: Pick<App, 'links'>, { teamId, projectId, nodeId, prefix }: DeploymentTarget): void {
  app.links.send(nodeId, { case: 'releasePrefix', value: { owner: { teamId, projectId, nodeId, prefix } } })
}

/** Whether the project has no deployment left there. */
export async function isEmptyTarget(queries: Queries, { projectId, nodeId, prefix }: Owner): Promise<boolean> {
  const { rowCount } = await queries.query(
    'select from crux.deployment where node_id = $1 and prefix = $2 and project_id = $3 limit 1',
    [nodeId, prefix, projectId],
  )
  return rowCount === 0
}

/** The deployment targets of a version or a project. */
export async function listTargets(
  queries: Queries,
  of: 'version' | 'project',
  id: string,
): Promise<DeploymentTarget[]> {
  const { rows } = await queries.query<DeploymentTarget>({
    name: `places of ${of}`,
    text: `select distinct team_id, project_id, node_id, prefix
      from crux.deployment where ${of}_id = $1`,
    values: [id],
  })
  return rows
}

export async function onlyEmpty(queries: Queries, targets: readonly DeploymentTarget[]): Promise<DeploymentTarget[]> {
  const empty: DeploymentTarget[] = []
  for (const target of targets) if (await isEmptyTarget(queries, target)) empty.push(target)
  return empty
}
