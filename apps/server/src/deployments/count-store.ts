import type { DeploymentStatus } from '@crux/contract'
import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'

export type Counts = Partial<Record<DeploymentStatus, number>>

/** The counts of a team as one value of a query: `{counts, rows}`. */
export const countsJson = (teamId: string) => sql`(
  select json_build_object('counts', coalesce(json_object_agg(status, n) filter (where n > 0), '{}'),
    'rows', coalesce(sum(rows), 0))
  from (select status, sum(difference) as n, count(*) as rows from crux.deployment_count
    where team_id = ${teamId} group by status) c)`

export type CountsJson = { counts: Counts; rows: number }

/** Requests at the same time share one query. */
export async function countByStatus(app: App, teamId: string): Promise<CountsJson> {
  const [found] = await sql`select ${countsJson(teamId)} as counted`.shared<{ counted: CountsJson }>(
    app.database,
    'deployment counts',
  )
  if (!found) throw new Error('an aggregate returned no row')
  return found.counted
}

export async function countDeployments(app: App, teamId: string): Promise<{ counts: Counts; total: number }> {
  const counted = await countByStatus(app, teamId)
  scheduleRollup(app, teamId, counted)
  return { counts: counted.counts, total: sumBy(counted.counts) }
}

export const sumBy = (counts: Counts): number => Object.values(counts).reduce((total, n) => total + n, 0)

const rowsMax = 500

/** Sums up many differences of a team. Rows that another process is summing up are skipped. */
export function scheduleRollup(app: App, teamId: string, { rows }: CountsJson): void {
  if (rows <= rowsMax) return
  sql`with taken as (
      delete from crux.deployment_count where id in (
        select id from crux.deployment_count where team_id = ${teamId} for update skip locked)
      returning status, difference)
    insert into crux.deployment_count (team_id, status, difference)
    select ${teamId}, status, sum(difference) from taken group by status having sum(difference) <> 0`
    .execute(app.database.pool)
    .catch((err: unknown) => app.log.warn({ err, teamId }, 'the counts of deployments were not rolled up'))
}
