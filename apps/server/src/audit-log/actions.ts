import { CruxError, type Query, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { countAllEntries } from './count-store.ts'
import { type AuditRow, countEntries, type Range, selectDays, selectPage } from './store.ts'
import { findSubjects } from './subject-store.ts'
import { withTimeZone } from './time-zone.ts'

type Entry = ResponseInput<'audit-log.list'>['items'][number]
export type RangeQuery = Query<'audit-log.export-csv'>

const daysMax = 400
const dayMs = 86_400_000

export async function listEntries(
  app: App,
  { team }: Caller,
  query: Query<'audit-log.list'>,
): Promise<ResponseInput<'audit-log.list'>> {
  const range = toRange(team, query)
  const [rows, total] = await Promise.all([
    selectPage(app.database.pool, range, query),
    countEntries(app.database.pool, range),
  ])
  const [items, subjects] = await Promise.all([toEntries(app, rows), findSubjects(app.database.pool, team.id, rows)])
  return { items: items.map((item) => ({ ...item, subject: subjects.get(item.id) })), total }
}

/** All entries of the team, without a range. */
export const countEntriesOf = (app: App, teamId: string): Promise<number> => countAllEntries(app.database.pool, teamId)

/** @throws CruxError invalidArgument `from` (too many days) or `timeZone` */
export async function countDays(
  app: App,
  { team }: Caller,
  query: Query<'audit-log.days'>,
): Promise<ResponseInput<'audit-log.days'>> {
  if (Date.parse(query.to) - Date.parse(query.from) > daysMax * dayMs)
    throw new CruxError('invalidArgument', {
      property: 'from',
      value: query.from,
      description: `At most ${daysMax} days can be counted at once.`,
    })
  return withTimeZone(query.timeZone, () => selectDays(app.database.pool, toRange(team, query), query.timeZone))
}

export const toRange = (team: TeamContext, query: RangeQuery): Range => ({
  teamId: team.id,
  from: query.from,
  to: query.to,
  filter: query.filter || undefined,
  accepted: query.accepted === undefined ? undefined : query.accepted === 'true',
})

export async function toEntries(app: App, rows: readonly AuditRow[]): Promise<Entry[]> {
  const people = await app.identity.people(rows.flatMap((row) => (row.actorType === 'user' ? [row.actorId] : [])))
  return rows.map(({ actorId, createdAt, ...row }) => {
    const person = row.actorType === 'user' ? people.get(actorId) : undefined
    return {
      ...row,
      createdAt: createdAt.toISOString(),
      user: person ? { id: person.id, email: person.email } : null,
    }
  })
}
