import { limits, type ResponseInput } from '@crux/contract'
import type { App } from '../context.ts'
import { containsPattern, nothing, type Queries, raw, sql } from '../db/queries.ts'
import { auditLog } from '../db/schema/index.ts'
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

const columns = (alias: string) =>
  raw(`${alias}.id, ${alias}.created_at, ${alias}.actor_type, ${alias}.actor_id,
  ${alias}.actor_name as name, ${alias}.context, ${alias}.method, ${alias}.event, ${alias}.accepted, ${alias}.data`)

export const insertEntry = ({ db }: App['database'], entry: typeof auditLog.$inferInsert) =>
  db.insert(auditLog).values(entry)

/**
 * Reads the page from the index of newest entries. A filter that few entries match uses the trigram index; one that
 * many match scans the index of newest entries. The database chooses by its statistics.
 */
export function selectPage(queries: Queries, range: Range, page: { skip: number; take: number }) {
  const { from, where, name } = conditions(range)
  return sql`select ${columns('a')} from (
      select k.id, k.created_at from ${from} ${where} order by k.created_at desc, k.id desc
      offset ${page.skip} limit ${page.take}) k
    join crux.audit_log a on a.id = k.id order by k.created_at desc, k.id desc`.rows<AuditRow>(queries, name)
}

/**
 * With a filter the total stops at a maximum: users who see it narrow the filter, and the response does not wait for a
 * full count.
 */
export async function countEntries(queries: Queries, range: Range): Promise<number> {
  if (!range.filter) return countAll(queries, range)
  const { from, where } = conditions(range)
  const { total } = await sql`select count(*)::int as total from (
    select from ${from} ${where} limit ${raw(limits.auditLogHits)}) k`.one<{ total: number }>(queries)
  return total
}

/** The next entries after `after`, oldest first. */
export function selectAfter(
  queries: Queries,
  range: Range,
  after: { createdAt: Date; id: string } | undefined,
  take: number,
) {
  // The range itself starts at the cursor, so that the entries before it are not read again for every page.
  const rest = after ? { ...range, from: after.createdAt.toISOString() } : range
  const { from, where } = conditions(rest, { complete: true })
  const cursor = after ? sql`and (k.created_at, k.id) > (${rest.from}, ${after.id})` : nothing
  return sql`select ${columns('k')} from ${from} ${where} ${cursor}
    order by k.created_at, k.id limit ${raw(take)}`.rows<AuditRow>(queries)
}

export async function selectDays(queries: Queries, range: Range, timeZone: string) {
  if (!range.filter) return countAllDays(queries, range, timeZone)
  const { from, where } = conditions(range)
  return sql`select to_char(day, 'YYYY-MM-DD') as day, accepted, refused from (
      select date_trunc('day', k.created_at at time zone ${timeZone}) as day,
        count(*) filter (where k.accepted)::int as accepted, count(*) filter (where not k.accepted)::int as refused
      from ${from} ${where} group by 1) d
    order by d.day`.rows<ResponseInput<'audit-log.days'>[number]>(queries)
}

/**
 * The filter conditions. Trigrams need three letters or digits in a row: a shorter filter searches only the newest
 * entries, so that no page reads a million rows. A prepared plan fits every range; with a filter each query gets its
 * own plan.
 */
function conditions({ teamId, from: after, to, filter, accepted }: Range, { complete = false } = {}) {
  const log = raw('crux.audit_log k')
  const where = sql`where k.team_id = ${teamId} and k.created_at between ${after} and ${to}
    ${accepted === undefined ? nothing : sql`and k.accepted = ${accepted}`}`
  if (!filter) return { from: log, where, name: `audit log of ${accepted === undefined ? 'all' : 'some'}` }
  const matches = sql`k.search like lower(${containsPattern(filter)})`
  if (complete || /[\p{L}\p{N}]{3}/u.test(filter)) return { from: log, where: sql`${where} and ${matches}` }
  const newest = sql`(select k.* from ${log} ${where} order by k.created_at desc, k.id desc
    limit ${raw(shortFilterEntries)}) k`
  return { from: newest, where: sql`where ${matches}` }
}

/** The ids of all teams, whose entries are deleted team by team. */
export const selectTeamIds = (queries: Queries) => sql`select id from crux.team`.column(queries)

/** Deletes along the index of newest entries, so that the rest of the log is not read. @returns how many */
export const deleteOldest = (queries: Queries, teamId: string, before: Date, entriesMax: number) =>
  sql`delete from crux.audit_log where id in (
    select id from crux.audit_log where team_id = ${teamId} and created_at < ${before}
    order by created_at, id limit ${entriesMax})`.execute(queries)
