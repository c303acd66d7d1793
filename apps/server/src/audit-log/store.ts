import type { Answer } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

type Entry = Answer<'audit-log.list'>['items'][number]
export type AuditRow = {
  id: string
  createdAt: Date
  actorType: Entry['actorType']
  actorId: string
  name: string
  context: Entry['context']
  method: Entry['method']
  event: string
  accepted: boolean
  data: unknown
}
export type Range = {
  teamId: string
  from: string
  to: string
  /** A part of the event or of the actor's name or address, in any case. */
  filter?: string | undefined
  accepted?: boolean | undefined
}

/** A filtered total stops here: whoever sees more narrows the filter, and nobody waits for the number. */
export const filteredTotalMax = 10_000

const columns = `a.id, a.created_at as "createdAt", a.actor_type as "actorType", a.actor_id as "actorId", a.actor_name as name,
  a.context, a.method, a.event, a.accepted, a.data`

/**
 * The page is cut out of the index of newest ones. A filter is answered from the trigrams where few entries have it, and by
 * walking that index where many do: the database chooses by its statistics.
 */
export async function selectPage(queries: Queries, range: Range, page: { skip: number; take: number }) {
  const { where, values, name } = conditions(range)
  const { rows } = await queries.query<AuditRow>({
    ...(name && { name: `audit log${name}` }),
    text: `select ${columns} from (
        select k.id, k.created_at from crux.audit_log k ${where} order by k.created_at desc, k.id desc
        offset $${values.length + 1} limit $${values.length + 2}) k
      join crux.audit_log a on a.id = k.id order by k.created_at desc, k.id desc`,
    values: [...values, page.skip, page.take],
  })
  return rows
}

export async function countEntries(queries: Queries, range: Range): Promise<number> {
  const { where, values, name } = conditions(range)
  const { rows } = await queries.query<{ total: number }>({
    ...(name && { name: `audit log total${name}` }),
    text: range.filter
      ? `select count(*)::int as total from (select from crux.audit_log k ${where} limit ${filteredTotalMax}) k`
      : `select count(*)::int as total from crux.audit_log k ${where}`,
    values,
  })
  return rows[0]?.total ?? 0
}

/** The next entries after `after`, oldest first. */
export async function selectAfter(
  queries: Queries,
  range: Range,
  after: { createdAt: Date; id: string } | undefined,
  take: number,
): Promise<AuditRow[]> {
  const { where, values } = conditions(range)
  const cursor = after ? `and (k.created_at, k.id) > ($${values.length + 1}, $${values.length + 2})` : ''
  const given = after ? [...values, after.createdAt, after.id] : values
  const { rows } = await queries.query<AuditRow>(
    `select ${columns.replaceAll('a.', 'k.')} from crux.audit_log k ${where} ${cursor}
     order by k.created_at, k.id limit ${take}`,
    given,
  )
  return rows
}

export async function selectDays(queries: Queries, range: Range, timeZone: string) {
  const { where, values } = conditions(range)
  const { rows } = await queries.query<Answer<'audit-log.days'>[number]>(
    `select to_char(day, 'YYYY-MM-DD') as day, accepted, refused from (
       select date_trunc('day', k.created_at at time zone $${values.length + 1}) as day,
         count(*) filter (where k.accepted)::int as accepted, count(*) filter (where not k.accepted)::int as refused
       from crux.audit_log k ${where} group by 1) d
     order by d.day`,
    [...values, timeZone],
  )
  return rows
}

/** A prepared plan is right for every range; with a filter each one deserves its own. */
function conditions({ teamId, from, to, filter, accepted }: Range) {
  const values: unknown[] = [teamId, from, to]
  let where = 'where k.team_id = $1 and k.created_at between $2 and $3'
  if (accepted !== undefined) {
    values.push(accepted)
    where += ` and k.accepted = $${values.length}`
  }
  if (filter) {
    values.push(`%${filter.replace(/[\\%_]/g, '\\$&')}%`)
    where += ` and k.search like lower($${values.length})`
  }
  const name = filter ? undefined : accepted === undefined ? ' of all' : ' of some'
  return { where, values, name }
}
