import { limits, type ResponseInput } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'
import { countAll, countAllDays } from './count-store.ts'

type Entry = ResponseInput<'audit-log.list'>['items'][number]
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

/** The number of newest entries that are searched for one or two letters. */
const shortFilterEntries = 50_000

const columns = `a.id, a.created_at, a.actor_type, a.actor_id, a.actor_name as name,
  a.context, a.method, a.event, a.accepted, a.data`

/**
 * Reads the page from the index of newest entries. A filter that few entries match uses the trigram index; one that
 * many match scans the index of newest entries. The database chooses by its statistics.
 */
export async function selectPage(queries: Queries, range: Range, page: { skip: number; take: number }) {
  const { from, where, values, name } = conditions(range)
  const { rows } = await queries.query<AuditRow>({
    ...(name && { name: `audit log${name}` }),
    text: `select ${columns} from (
        select k.id, k.created_at from ${from} ${where} order by k.created_at desc, k.id desc
        offset $${values.length + 1} limit $${values.length + 2}) k
      join crux.audit_log a on a.id = k.id order by k.created_at desc, k.id desc`,
    values: [...values, page.skip, page.take],
  })
  return rows
}

/**
 * With a filter the total stops at a maximum: users who see it narrow the filter, and the response does not wait for a
 * full count.
 */
export async function countEntries(queries: Queries, range: Range): Promise<number> {
  if (!range.filter) return countAll(queries, range)
  const { from, where, values } = conditions(range)
  const { rows } = await queries.query<{ total: number }>(
    `select count(*)::int as total from (select from ${from} ${where} limit ${limits.auditLogHits}) k`,
    values,
  )
  return rows[0]?.total ?? 0
}

/** The next entries after `after`, oldest first. */
export async function selectAfter(
  queries: Queries,
  range: Range,
  after: { createdAt: Date; id: string } | undefined,
  take: number,
): Promise<AuditRow[]> {
  // The range itself starts at the cursor, so that the entries before it are not read again for every page.
  const rest = after ? { ...range, from: after.createdAt.toISOString() } : range
  const { from, where, values } = conditions(rest, { complete: true })
  const cursor = after ? `and (k.created_at, k.id) > ($2, $${values.length + 1})` : ''
  const { rows } = await queries.query<AuditRow>(
    `select ${columns.replaceAll('a.', 'k.')} from ${from} ${where} ${cursor}
     order by k.created_at, k.id limit ${take}`,
    after ? [...values, after.id] : values,
  )
  return rows
}

export async function selectDays(queries: Queries, range: Range, timeZone: string) {
  if (!range.filter) return countAllDays(queries, range, timeZone)
  const { from, where, values } = conditions(range)
  const { rows } = await queries.query<ResponseInput<'audit-log.days'>[number]>(
    `select to_char(day, 'YYYY-MM-DD') as day, accepted, refused from (
       select date_trunc('day', k.created_at at time zone $${values.length + 1}) as day,
         count(*) filter (where k.accepted)::int as accepted, count(*) filter (where not k.accepted)::int as refused
       from ${from} ${where} group by 1) d
     order by d.day`,
    [...values, timeZone],
  )
  return rows
}

/**
 * The filter conditions. Trigrams need three letters or digits in a row: a shorter filter searches only the newest
 * entries, so that no page reads a million rows. A prepared plan fits every range; with a filter each query gets its
 * own plan.
 */
function conditions({ teamId, from: after, to, filter, accepted }: Range, { complete = false } = {}) {
  const values: unknown[] = [teamId, after, to]
  let where = 'where k.team_id = $1 and k.created_at between $2 and $3'
  if (accepted !== undefined) {
    values.push(accepted)
    where += ` and k.accepted = $${values.length}`
  }
  if (!filter) return { from: 'crux.audit_log k', where, values, name: accepted === undefined ? ' of all' : ' of some' }
  values.push(`%${filter.replace(/[\\%_]/g, '\\$&')}%`)
  const matches = `k.search like lower($${values.length})`
  if (complete || /[\p{L}\p{N}]{3}/u.test(filter))
    return { from: 'crux.audit_log k', where: `${where} and ${matches}`, values, name: undefined }
  const newest = `(select k.* from crux.audit_log k ${where} order by k.created_at desc, k.id desc limit ${shortFilterEntries}) k`
  return { from: newest, where: `where ${matches}`, values, name: undefined }
}
