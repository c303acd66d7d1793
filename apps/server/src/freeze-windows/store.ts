import type { FreezeWindowWrite } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

export type EnvironmentPath = { packageId: string; environmentId: string }
export type Target = { nodeId: string; prefix: string }
/** The columns of both kinds; a store cannot rule out that some are null which their kind needs. */
type WindowRow = {
  id: string
  kind: 'weekly' | 'once'
  reason: string
  days: number[] | null
  fromTime: string | null
  toTime: string | null
  timeZone: string | null
  startsAt: Date | null
  endsAt: Date | null
}
export type StoredWindow = FreezeWindowWrite & { id: string; createdBy: string; createdAt: Date }
export type TargetWindow = { index: number; environmentName: string; window: FreezeWindowWrite }

const columns = sql`w.id, w.kind, w.reason, w.days, w.from_time, w.to_time, w.time_zone, w.starts_at, w.ends_at`

/** An environment of the team. Nobody moves or deletes it, or edits its windows, before the transaction ends. */
export const lockEnvironment = (queries: Queries, teamId: string, { packageId, environmentId }: EnvironmentPath) =>
  sql`select e.node_id, e.prefix from crux.package_environment e
    join crux.package p on p.id = e.package_id
    where e.id = ${environmentId} and p.id = ${packageId} and p.team_id = ${teamId}
    for no key update of e`.first<Target>(queries, 'lock environment of freeze windows')

/**
 * The windows of each target, with the position of the target. Windows of another team never apply: an environment
 * counts only for nodes of its team.
 */
export const selectTargetWindows = async (queries: Queries, targets: readonly Target[]): Promise<TargetWindow[]> => {
  const rows = await sql`select t.index::int as index, p.name || ' ' || e.name as environment_name, ${columns}
    from unnest(${targets.map(({ nodeId }) => nodeId)}::uuid[], ${targets.map(({ prefix }) => prefix)}::text[])
      with ordinality as t(node_id, prefix, index)
    join crux.package_environment e on e.node_id = t.node_id and e.prefix = t.prefix
    join crux.package p on p.id = e.package_id
    join crux.node n on n.id = e.node_id and n.team_id = p.team_id
    join crux.freeze_window w on w.environment_id = e.id
    order by w.id`.rows<WindowRow & { index: number; environmentName: string }>(queries, 'freeze windows of targets')
  return rows.map(({ index, environmentName, ...row }) => ({
    index: index - 1,
    environmentName,
    window: toWindow(row),
  }))
}

export const selectWindows = async (queries: Queries, environmentId: string): Promise<StoredWindow[]> => {
  const rows = await sql`select ${columns}, w.created_by, w.created_at from crux.freeze_window w
    where w.environment_id = ${environmentId} order by w.id`.rows<WindowRow & { createdBy: string; createdAt: Date }>(
    queries,
    'freeze windows of an environment',
  )
  return rows.map((row) => ({
    id: row.id,
    ...toWindow(row),
    createdBy: row.createdBy,
    createdAt: row.createdAt,
  }))
}

/** Those of the environments that have a window that freezes now or will. */
export const selectEnvironmentsWithWindows = (queries: Queries, environmentIds: readonly string[]) =>
  sql`select distinct environment_id as id from crux.freeze_window
    where environment_id = any(${environmentIds}::uuid[])
      and (kind = 'weekly' or ends_at is null or ends_at > now())`.column(queries)

export const insertWindow = (
  queries: Queries,
  environmentId: string,
  { userId, ...write }: FreezeWindowWrite & { userId: string },
) => {
  const values = toValues(write)
  return sql`insert into crux.freeze_window (environment_id, kind, reason, days, from_time, to_time, time_zone, starts_at,
      ends_at, created_by, updated_by)
    values (${environmentId}, ${values.kind}, ${values.reason}, ${values.days}::int[], ${values.fromTime},
      ${values.toTime}, ${values.timeZone}, ${values.startsAt}::timestamptz, ${values.endsAt}::timestamptz, ${userId},
      ${userId})
    returning id`.id(queries, 'insert freeze window')
}

/** @returns false when the environment has no such window */
export const updateWindow = async (
  queries: Queries,
  { environmentId, windowId }: { environmentId: string; windowId: string },
  { userId, ...write }: FreezeWindowWrite & { userId: string },
): Promise<boolean> => {
  const values = toValues(write)
  const count = await sql`update crux.freeze_window set kind = ${values.kind}, reason = ${values.reason},
      days = ${values.days}::int[], from_time = ${values.fromTime}, to_time = ${values.toTime},
      time_zone = ${values.timeZone}, starts_at = ${values.startsAt}::timestamptz,
      ends_at = ${values.endsAt}::timestamptz, updated_at = now(), updated_by = ${userId}
    where id = ${windowId} and environment_id = ${environmentId}`.execute(queries, 'update freeze window')
  return count === 1
}

/** @returns false when the environment has no such window */
export const deleteWindow = async (
  queries: Queries,
  { environmentId, windowId }: { environmentId: string; windowId: string },
): Promise<boolean> =>
  (await sql`delete from crux.freeze_window where id = ${windowId} and environment_id = ${environmentId}`.execute(
    queries,
    'delete freeze window',
  )) === 1

/** What is missing becomes empty: the rules find that such a window cannot be evaluated, and freeze. */
function toWindow(row: WindowRow): FreezeWindowWrite {
  const { kind, reason } = row
  if (kind === 'once') return { kind, reason, from: toText(row.startsAt), to: toText(row.endsAt) }
  const { days, fromTime, toTime, timeZone } = row
  return { kind: 'weekly', reason, days: days ?? [], from: fromTime ?? '', to: toTime ?? '', timeZone: timeZone ?? '' }
}

const toText = (time: Date | null) => time?.toISOString() ?? ''

function toValues(window: FreezeWindowWrite): Omit<WindowRow, 'id'> {
  const none = { days: null, fromTime: null, toTime: null, timeZone: null, startsAt: null, endsAt: null }
  const { kind, reason } = window
  if (kind === 'once') return { ...none, kind, reason, startsAt: new Date(window.from), endsAt: new Date(window.to) }
  const days = [...new Set(window.days)].sort()
  return { ...none, kind, reason, days, fromTime: window.from, toTime: window.to, timeZone: window.timeZone }
}
