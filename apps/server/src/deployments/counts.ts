import type { DeploymentStatus } from '@crux/contract'
import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'

export type Counts = Partial<Record<DeploymentStatus, number>>

/** An expression for queries whose first parameter is the team: `{counts, rows}`. */
export const countsJson = `(
  select json_build_object('counts', coalesce(json_object_agg(status, n) filter (where n > 0), '{}'), 'rows', coalesce(sum(rows), 0))
  from (select status, sum(difference) as n, count(*) as rows from crux.deployment_count where team_id = $1 group by status) c)`

export type CountsJson = { counts: Counts; rows: number }

export async function countByStatus(queries: Queries, teamId: string): Promise<CountsJson> {
  const { rows } = await queries.query<{ counted: CountsJson }>({
    name: 'deployment counts',
    text: `select ${countsJson} as counted`,
    values: [teamId],
  })
  return rows[0]?.counted ?? { counts: {}, rows: 0 }
}

export const sumOf = (counts: Counts): number => Object.values(counts).reduce((total, n) => total + n, 0)

const rowsMax = 500

/** Sums up many differences of a team. Rows that another process is summing up are skipped. */
export function scheduleRollup(app: App, teamId: string, { rows }: CountsJson): void {
  if (rows <= rowsMax) return
  app.database.pool
    .query(
      `with taken as (
         delete from crux.deployment_count where id in (
           select id from crux.deployment_count where team_id = $1 for update skip locked)
         returning status, difference)
       insert into crux.deployment_count (team_id, status, difference)
       select $1, status, sum(difference) from taken group by status having sum(difference) <> 0`,
      [teamId],
    )
    .catch((err: unknown) => app.log.warn({ err, teamId }, 'the counts of deployments were not rolled up'))
}
