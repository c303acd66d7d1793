import type { NodeStatus } from '@crux/contract'
import { type Queries, raw, sql } from '../db/queries.ts'
import { getStatus, isUpdatingSql } from '../nodes/index.ts'

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
    node: { id: string; name: string; linkServer: string | null; agentVersion: string | null; updating: boolean }
  }
  const rows = await sql`select s.id as release_id, s.project_id, s.prefix, s.version_name,
      s.container_names as containers,
      json_build_object('id', n.id, 'name', n.name, 'linkServer', n.link_server, 'agentVersion',
        n.agent_version, 'updating', ${isUpdatingSql}) as node,
      (select o.version_name from crux.release o where o.node_id = s.node_id and o.prefix = s.prefix
        and o.project_id = s.project_id and o.status = 'in-progress' limit 1) as replaced_by
    from crux.deployment d join crux.release s on s.deployment_id = d.id join crux.node n on n.id = s.node_id
    where ${raw(columns[of])} = ${id} and s.current and s.container_names <> '[]'
    order by n.name, s.prefix`.rows<Row>(queries, `running of ${of}`)
  return rows.map(({ node: { linkServer, agentVersion, updating, ...node }, ...row }) => ({
    ...row,
    node: { ...node, status: getStatus({ linkServer, agentVersion, updating }) },
  }))
}

/** The containers of the release are no longer recorded as running. */
export const markRemoved = (queries: Queries, releaseId: string) =>
  sql`update crux.release set current = false, container_names = '[]'
    where id = ${releaseId} and current`.execute(queries)
