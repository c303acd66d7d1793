import type { ResponseInput } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

type Range = { teamId: string; from: string; to: string; accepted?: boolean | undefined }

const quarterS = 900

/**
 * The number of entries of a range, from the counters of whole quarters of an hour. Only the parts before the first and
 * after the last quarter are counted entry by entry. `at` is the start of a quarter, or the time of an entry.
 */
const counted = `
  select quarter as at, accepted, refused from crux.audit_count
    where team_id = $1 and quarter >= to_timestamp($4) and quarter < to_timestamp($5)
  union all
  select created_at, accepted::int, (not accepted)::int from crux.audit_log
    where team_id = $1 and created_at >= $2 and created_at < to_timestamp($4)
  union all
  select created_at, accepted::int, (not accepted)::int from crux.audit_log
    where team_id = $1 and created_at >= greatest($2, to_timestamp($5)) and created_at <= $3`

export async function countAll(queries: Queries, range: Range): Promise<number> {
  const { rows } = await queries.query<{ accepted: number; refused: number }>({
    name: 'audit log total',
    text: `select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(refused), 0)::int as refused from (${counted}) k`,
    values: valuesOf(range),
  })
  const { accepted, refused } = wanted(range, rows[0] ?? { accepted: 0, refused: 0 })
  return accepted + refused
}

/** All entries of the team, without a range. */
export async function countAllEntries(queries: Queries, teamId: string): Promise<number> {
  const { rows } = await queries.query<{ total: number }>({
    name: 'audit log of team',
    text: `select accepted + refused as total from crux.audit_count where team_id = $1 and quarter = '-infinity'`,
    values: [teamId],
  })
  return rows[0]?.total ?? 0
}

export async function countAllDays(queries: Queries, range: Range, timeZone: string) {
  const { rows } = await queries.query<ResponseInput<'audit-log.days'>[number]>({
    name: 'audit log days',
    text: `select to_char(date_trunc('day', at at time zone $6), 'YYYY-MM-DD') as day,
        sum(accepted)::int as accepted, sum(refused)::int as refused
      from (${counted}) k group by 1 order by 1`,
    values: [...valuesOf(range), timeZone],
  })
  return rows.map((row) => ({ ...row, ...wanted(range, row) })).filter((row) => row.accepted + row.refused > 0)
}

/** The quarters that are completely in the range: none, where it starts and ends in the same one. */
function valuesOf({ teamId, from, to }: Range): unknown[] {
  const end = Math.floor(Date.parse(to) / 1_000 / quarterS) * quarterS
  const first = Math.ceil(Date.parse(from) / 1_000 / quarterS) * quarterS
  return [teamId, from, to, Math.min(first, end), end]
}

const wanted = ({ accepted }: Range, counts: { accepted: number; refused: number }) => ({
  accepted: accepted === false ? 0 : counts.accepted,
  refused: accepted === true ? 0 : counts.refused,
})
