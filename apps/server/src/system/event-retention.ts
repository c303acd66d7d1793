import type { App } from '../context.ts'
import { releasesForForecast } from '../deployments/current-containers.ts'

const dayMs = 86_400_000
/** Small enough that transactions that write events do not wait for a deletion. */
const eventsPerDelete = 5_000
const releasesPerBatch = 100
/** The container list of a node reads this many of them to show which user stopped a container. */
const keptCommands = 200
/** A job that takes longer counts as failed; the rest is deleted the next night. */
const nightMs = 240_000

type Parts = Pick<App, 'database' | 'log'>
type Dropped = { deployment: number; node: number }

/** Deletes events of nodes and deployments that are older than the retention period, every night. */
export function scheduleEventRetention(app: App): void {
  app.jobs.schedule('event-retention', '37 3 * * *', async () => {
    const { eventRetentionDays: days } = app.config
    if (days > 0) await dropEventsBefore(app, new Date(Date.now() - days * dayMs))
  })
}

/**
 * Deletes old events except those that a page needs: the log of a deployment's last release and of the current release,
 * the releases that the downtime forecast is made from, and the newest container commands of a node.
 *
 * @returns undefined when another server process is doing it
 */
export async function dropEventsBefore(
  app: Parts,
  before: Date,
  end = Date.now() + nightMs,
): Promise<Dropped | undefined> {
  const client = await app.database.pool.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<{ held: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('event retention', 0)) as held`,
    )
    if (!rows[0]?.held) return undefined
    try {
      const dropped = { deployment: await dropOfReleases(app, before, end), node: await dropOfNodes(app, before, end) }
      if (dropped.deployment + dropped.node > 0) app.log.info({ dropped, before }, 'old events were dropped')
      return dropped
    } finally {
      await client.query(`select pg_advisory_unlock(hashtextextended('event retention', 0))`)
    }
  } catch (error) {
    // The lock belongs to the connection and is released with it.
    broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * The next releases with unneeded events, the oldest first. Each night the index scan skips the releases that are kept:
 * there are a few per deployment target. $2 and $3 are the end of the last batch.
 */
export const oldReleases = `select r.id, r.deployment_id as "deploymentId", r.number, r.finished_at::text as "finishedAt"
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

async function dropOfReleases({ database }: Parts, before: Date, end: number): Promise<number> {
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

export const eventsOfNode = `delete from crux.node_event where id in (
  select id from crux.node_event
  where node_id = $1 and created_at < $2 and (event <> 'containerCommand' or created_at < $3)
  order by created_at, id limit ${eventsPerDelete})`

/** Reads node by node along the index of newest events, so that recent events are not read. */
async function dropOfNodes({ database }: Parts, before: Date, end: number): Promise<number> {
  const nodes = await database.pool.query<{ id: string }>('select id from crux.node')
  let dropped = 0
  for (const { id } of nodes.rows) {
    if (Date.now() >= end) break
    const { rows } = await database.pool.query<{ at: Date }>(
      `select created_at as at from crux.node_event where node_id = $1 and event = 'containerCommand'
       order by created_at desc nulls first, id desc nulls first offset ${keptCommands - 1} limit 1`,
      [id],
    )
    let count = eventsPerDelete
    while (count === eventsPerDelete && Date.now() < end) {
      const values = [id, before, rows[0]?.at ?? '-infinity']
      count = (await database.pool.query(eventsOfNode, values)).rowCount ?? 0
      dropped += count
    }
  }
  return dropped
}
