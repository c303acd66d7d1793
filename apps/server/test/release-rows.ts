import type { DeployTestEnvironment, SeededVersion } from './deploy-kit.ts'

export type ReleaseRow = {
  status: 'successful' | 'failed' | 'in-progress'
  /** The default is now. */
  startedAt?: string
  finishedAt?: string | null
  /** Before `finishedAt`; the default is one second. */
  tookMs?: number
  /** The status of its deployment; the default is that of the release. */
  deploymentStatus?: string
}

/** Inserts a deployment with one release that has ended, without an agent. @returns the id of the deployment */
export async function insertRelease(
  testEnvironment: DeployTestEnvironment,
  version: SeededVersion,
  target: { nodeId: string; prefix: string },
  row: ReleaseRow,
): Promise<string> {
  const { pool } = testEnvironment.server.app.database
  const finishedAt = row.finishedAt === undefined ? new Date().toISOString() : row.finishedAt
  const { rows } = await pool.query<{ id: string }>(
    `with added as (
      insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, status, attempts, outcome, created_by, updated_by)
      values ($1, $2, $3, $4, $5, $6, 1, 'the reason', $7, $7) returning *)
     insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
       status, started_at, dispatched_at, finished_at, started_by_id, started_by_name)
     select id, 1, team_id, project_id, node_id, prefix, '1.0.0', 'shop', $8, coalesce($9::timestamptz, now()),
       $10::timestamptz - $11::float8 * interval '1 millisecond', $10, $7, 'Ada' from added
     returning deployment_id as id`,
    [
      testEnvironment.team.id,
      version.projectId,
      version.versionId,
      target.nodeId,
      target.prefix,
      row.deploymentStatus ?? row.status,
      testEnvironment.owner.id,
      row.status,
      row.startedAt ?? finishedAt,
      finishedAt,
      row.tookMs ?? 1_000,
    ],
  )
  const [added] = rows
  if (!added) throw new Error('no release was inserted')
  return added.id
}
