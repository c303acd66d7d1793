import type { App } from '../context.ts'
import { releasesForForecast } from './current-container-store.ts'

/** Small enough that transactions that write events do not wait for a deletion. */
const eventsPerDelete = 5_000
const releasesPerBatch = 100

/**
 * The next releases with unneeded events, the oldest first. Each night the index scan skips the releases that are kept:
 * there are a few per deployment target. $2 and $3 are the end of the last batch.
 */
export const oldReleases = `select r.id, r.deployment_id, r.number, r.finished_at::text as finished_at
  from crux.release r join crux.deployment d on d.id = r.deployment_id
  where not r.events_dropped and r.status <> 'in-progress' and r.finished_at < $1
    and (r.finished_at, r.id) > ($2::timestamptz, $3::uuid)
    and r.number < d.attempts and not r.current
    and (r.status <> 'successful' or ${releasesForForecast} <= (select count(*) from (
      select from crux.release newer
      where newer.node_id = r.node_id and newer.prefix = r.prefix and newer.project_id = r.project_id
        and newer.status = 'successful' and newer.finished_at > r.finished_at
      limit ${releasesForForecast}) as newest))
  order by r.finished_at, r.id limit ${releasesPerBatch}`

export const eventsOfReleases = `delete from crux.deployment_event where position in (
  select e.position from unnest($1::uuid[], $2::int[]) as old(id, number)
  cross join lateral (select position from crux.deployment_event
    where deployment_id = old.id and attempt = old.number limit ${eventsPerDelete}) e
  limit ${eventsPerDelete})`

/**
 * Deletes the log events of old releases, except those that a page needs: of a deployment's last release, of the
 * current release, and of the releases that the downtime forecast is made from.
 */
export async function deleteEventsOfReleases(
  { database }: Pick<App, 'database'>,
  before: Date,
  end: number,
): Promise<number> {
  type Row = { id: string; deploymentId: string; number: number; finishedAt: string }
  let after = ['-infinity', '00000000-0000-0000-0000-000000000000']
  let dropped = 0
  while (Date.now() < end) {
    const { rows } = await database.pool.query<Row>(oldReleases, [before, ...after])
    const last = rows.at(-1)
    if (!last) break
    after = [last.finishedAt, last.id]
    const keys = [rows.map((row) => row.deploymentId), rows.map((row) => row.number)]
    let count = eventsPerDelete
    while (count === eventsPerDelete) {
      if (Date.now() >= end) return dropped
      count = (await database.pool.query(eventsOfReleases, keys)).rowCount ?? 0
      dropped += count
    }
    await database.pool.query('update crux.release set events_dropped = true where id = any($1::uuid[])', [
      rows.map((row) => row.id),
    ])
  }
  return dropped
}
