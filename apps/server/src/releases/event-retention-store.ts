import type { App } from '../context.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { raw, sql } from '../db/queries.ts'
import { releasesForForecast } from './current-container-store.ts'

/** Small enough that transactions that write events do not wait for a deletion. */
const eventsPerDelete = 5_000
const releasesPerBatch = 100

/**
 * The next releases with unneeded events, the oldest first. Each night the index scan skips the releases that are kept:
 * there are a few per deployment target.
 *
 * @param end where the last batch ended
 */
export const oldReleases = (before: Date, end: readonly [finishedAt: string, id: string]) =>
  sql`select r.id, r.deployment_id, r.number, r.finished_at::text as finished_at
    from crux.release r join crux.deployment d on d.id = r.deployment_id
    where not r.events_dropped and r.status <> 'in-progress' and r.finished_at < ${before}
      and (r.finished_at, r.id) > (${end[0]}::timestamptz, ${end[1]}::uuid)
      and r.number < d.attempts and not r.current
      and (r.status <> 'successful' or ${raw(releasesForForecast)} <= (select count(*) from (
        select from crux.release newer
        where newer.node_id = r.node_id and newer.prefix = r.prefix and newer.project_id = r.project_id
          and newer.status = 'successful' and newer.finished_at > r.finished_at
        limit ${raw(releasesForForecast)}) as newest))
    order by r.finished_at, r.id limit ${raw(releasesPerBatch)}`

export const eventsOfReleases = (releases: readonly { deploymentId: string; number: number }[]) =>
  sql`delete from crux.deployment_event where position in (
    select e.position from unnest(${releases.map((one) => one.deploymentId)}::uuid[],
      ${releases.map((one) => one.number)}::int[]) as old(id, number)
    cross join lateral (select position from crux.deployment_event
      where deployment_id = old.id and attempt = old.number limit ${raw(eventsPerDelete)}) e
    limit ${raw(eventsPerDelete)})`

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
  const { pool } = database
  let after: [string, string] = ['-infinity', '00000000-0000-0000-0000-000000000000']
  let dropped = 0
  while (Date.now() < end) {
    const rows = await oldReleases(before, after).rows<Row>(pool)
    const last = rows.at(-1)
    if (!last) break
    after = [last.finishedAt, last.id]
    const deletion = eventsOfReleases(rows)
    dropped += await deleteInBatches(eventsPerDelete, end, () => deletion.execute(pool))
    // The rest of these releases is deleted the next night.
    if (Date.now() >= end) break
    await sql`update crux.release set events_dropped = true
      where id = any(${rows.map((row) => row.id)}::uuid[])`.execute(pool)
  }
  return dropped
}
