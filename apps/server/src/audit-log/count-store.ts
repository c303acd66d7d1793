import type { ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

type Range = { teamId: string; from: string; to: string; accepted?: boolean | undefined }

const quarterS = 900

/**
 * The number of entries of a range, from the counters of whole quarters of an hour. Only the parts before the first and
 * after the last quarter are counted entry by entry. `at` is the start of a quarter, or the time of an entry.
 */
function counted({ teamId, from, to }: Range) {
  const end = Math.floor(Date.parse(to) / 1_000 / quarterS) * quarterS
  // No quarter is completely in the range where it starts and ends in the same one.
  const first = Math.min(Math.ceil(Date.parse(from) / 1_000 / quarterS) * quarterS, end)
  return sql`
    select quarter as at, accepted, refused from crux.audit_count
      where team_id = ${teamId} and quarter >= to_timestamp(${first}) and quarter < to_timestamp(${end})
    union all
    select created_at, accepted::int, (not accepted)::int from crux.audit_log
      where team_id = ${teamId} and created_at >= ${from} and created_at < to_timestamp(${first})
    union all
    select created_at, accepted::int, (not accepted)::int from crux.audit_log
      where team_id = ${teamId} and created_at >= greatest(${from}, to_timestamp(${end})) and created_at <= ${to}`
}

export async function countAll(queries: Queries, range: Range): Promise<number> {
  const total = await sql`select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(refused), 0)::int as refused
    from (${counted(range)}) k`.one<{ accepted: number; refused: number }>(queries, 'audit log total')
  const { accepted, refused } = wanted(range, total)
  return accepted + refused
}

/** All entries of the team, without a range. */
export const countAllEntries = async (queries: Queries, teamId: string): Promise<number> =>
  (await sql`select accepted + refused as total from crux.audit_count
    where team_id = ${teamId} and quarter = '-infinity'`.value<number>(queries, 'audit log of team')) ?? 0

export async function countAllDays(queries: Queries, range: Range, timeZone: string) {
  const rows = await sql`select to_char(date_trunc('day', at at time zone ${timeZone}), 'YYYY-MM-DD') as day,
      sum(accepted)::int as accepted, sum(refused)::int as refused
    from (${counted(range)}) k group by 1 order by 1`.rows<ResponseInput<'audit-log.days'>[number]>(
    queries,
    'audit log days',
  )
  return rows.map((row) => ({ ...row, ...wanted(range, row) })).filter((row) => row.accepted + row.refused > 0)
}

const wanted = ({ accepted }: Range, counts: { accepted: number; refused: number }) => ({
  accepted: accepted === false ? 0 : counts.accepted,
  refused: accepted === true ? 0 : counts.refused,
})
