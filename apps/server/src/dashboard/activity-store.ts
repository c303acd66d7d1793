import { limits, type ResponseInput } from '@crux/contract'
import type { App } from '../context.ts'
import { raw, type Sql, sql } from '../db/queries.ts'

export type Activity = ResponseInput<'dashboard.activity'>

const minuteMs = 60_000

/**
 * The releases of a team that ended on each of the last `days` days of a time zone, the day of `until` included.
 *
 * Each number is the count of one range of the index of finished releases, because converting the time of every row takes
 * most of the time. Only the minute of `until` is a value, so that requests at the same time share one query; no day
 * begins within a minute.
 */
export async function selectActivity(
  app: App,
  { teamId, days, timeZone, until }: { teamId: string; days: number; timeZone: string; until: Date },
): Promise<Activity> {
  const minute = new Date(Math.floor(until.getTime() / minuteMs) * minuteMs).toISOString()
  const count = (status: 'successful' | 'failed') => sql`(select count(*)::int from crux.release
    where team_id = ${teamId} and status = ${raw(`'${status}'`)} and finished_at >= each.starts and finished_at < each.ends)`
  /** The times of the newest successful releases that ended in a range. */
  const median = (starts: Sql, ends: Sql) => sql`
    select count(*)::int as n, percentile_cont(0.5) within group (order by took) as ms from (
      select extract(epoch from finished_at - dispatched_at)::float8 * 1000 as took from crux.release
      where team_id = ${teamId} and status = 'successful' and dispatched_at is not null
        and finished_at >= ${starts} and finished_at < ${ends}
      order by finished_at desc limit ${limits.activityMedian}) newest`
  const [found] = await sql`with today as (select (${minute}::timestamptz at time zone ${timeZone})::date as day),
    midnight as (select day - ago as day, (day - ago)::timestamp at time zone ${timeZone} as at
      from today, generate_series(-1, 2 * ${days}::int - 1) ago),
    -- Where the clock goes back to midnight it has two, of which PostgreSQL returns the second; the day begins with the first.
    start as (select day, case when ((at - interval '1 hour') at time zone ${timeZone})::date = day
      then at - interval '1 hour' else at end as at from midnight),
    each as (select day, at as starts, lead(at) over (order by day) as ends from start),
    bounds as (select min(starts) as previous, min(starts) filter (where each.day > today.day - ${days}::int) as starts,
      max(ends) as ends from each, today)
    select (select json_agg(json_build_object('day', to_char(each.day, 'YYYY-MM-DD'), 'successful', ${count('successful')},
          'failed', ${count('failed')}) order by each.day)
        from each, today where each.day between today.day - ${days}::int + 1 and today.day) as days,
      latest.ms as median_ms, previous.ms as previous_median_ms,
      greatest(latest.n, previous.n) = ${limits.activityMedian} as median_limited
    from bounds cross join lateral (${median(sql`bounds.starts`, sql`bounds.ends`)}) latest
      cross join lateral (${median(sql`bounds.previous`, sql`bounds.starts`)}) previous`.shared<Activity>(
    app.database,
    'deployments per day',
  )
  if (!found) throw new Error('an aggregate returned no row')
  return found
}
