import { CruxError } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

/**
 * The containers of a deployment are those of its project under its prefix, whichever release created them.
 *
 * @throws CruxError notFound `deploymentId`, also for a deployment of another team or node
 */
export async function findTarget(
  queries: Queries,
  { deploymentId, teamId, nodeId }: { deploymentId: string; teamId: string; nodeId: string },
) {
  const row = await sql`select prefix, project_id from crux.deployment
    where id = ${deploymentId} and team_id = ${teamId}
      and node_id = ${nodeId}`.first<{ prefix: string; projectId: string }>(queries)
  if (!row) throw new CruxError('notFound', { property: 'deploymentId', value: deploymentId })
  return row
}
