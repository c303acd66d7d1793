import type { ResponseInput } from '@crux/contract'
import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'

export type Activity = ResponseInput<'dashboard.activity'>

/**
 * The releases of a team that ended in the last `days` days of a time zone, today included, per day.
 *
 * The statement reads the index of finished releases alone. It counts by quarter of an hour first, because the offset of
 * every time zone is a multiple of that, and converting each row takes most of the time.
 */
export async function selectActivity(
  app: App,
  { teamId, days, timeZone, until }: { teamId: string; days: number; timeZone: string; until: Date },
): Promise<Activity> {
  const [found] =
    await sql`with today as (select (${until.toISOString()}::timestamptz at time zone ${timeZone})::date as day),
    range as (select (today.day - ${days}::int + 1)::timestamp at time zone ${timeZone} as starts,
      (today.day - 2 * ${days}::int + 1)::timestamp at time zone ${timeZone} as previous from today),
    ended as (
      select r.status, r.finished_at, extract(epoch from r.finished_at - r.dispatched_at)::float8 * 1000 as took
      from range join crux.release r on r.finished_at >= range.previous
      where r.team_id = ${teamId} and r.status in ('successful', 'failed') and r.finished_at <= ${until.toISOString()}),
    quarters as (
      select date_bin('15 minutes', finished_at, timestamptz '2000-01-01 00:00Z') as quarter, status, count(*)::int as n
      from range join ended on ended.finished_at >= range.starts group by 1, 2),
    counted as (
      select (quarter at time zone ${timeZone})::date as day,
        coalesce(sum(n) filter (where status = 'successful'), 0)::int as successful,
        coalesce(sum(n) filter (where status = 'failed'), 0)::int as failed
      from quarters group by 1)
    select (select json_agg(json_build_object('day', to_char(each.day, 'YYYY-MM-DD'),
          'successful', coalesce(c.successful, 0), 'failed', coalesce(c.failed, 0)) order by each.day)
        from (select today.day - ago as day from today, generate_series(0, ${days}::int - 1) ago) each
        left join counted c using (day)) as days,
      percentile_cont(0.5) within group (order by took)
        filter (where finished_at >= range.starts and status = 'successful') as median_ms,
      percentile_cont(0.5) within group (order by took)
        filter (where finished_at < range.starts and status = 'successful') as previous_median_ms
    from range left join ended on true`.shared<Activity>(app.database, 'deployments per day')
  if (!found) throw new Error('an aggregate returned no row')
  return found
}
