import type { NotificationEvent, NotificationType } from '@crux/contract'
import { lockByName } from '../db/lock-order.ts'
import { type Queries, sql } from '../db/queries.ts'

export type NotificationRow = {
  id: string
  name: string
  /** Masked. */
  url: string
  type: NotificationType
  active: boolean
  problem: string | null
  enabledEvents: NotificationEvent[]
}
export type NotificationDetailsRow = NotificationRow & {
  /** Of those that are still members of the team. */
  memberIds: string[]
  hasSecret: boolean
  createdAt: Date
  updatedAt: Date
}
/** The credentials as stored in the database, encrypted. */
export type SealedAddress = { url: string | null; secret: string | null }

/** All columns but the credentials, which queries that serve responses never select. */
const face = sql`n.id, n.name, n.masked_url as url, n.type, n.active, n.problem, n.enabled_events`
const details = sql`${face}, n.secret is not null as has_secret, n.created_at, n.updated_at,
  array(select m.user_id from crux.team_member m where m.team_id = n.team_id and m.user_id = any(n.member_ids)
    order by m.user_id) as member_ids`

export const selectNotifications = (queries: Queries, teamId: string) =>
  sql`select ${face} from crux.notification n where n.team_id = ${teamId}
    order by n.name`.rows<NotificationRow>(queries, 'notifications')

/** @returns undefined when it does not exist in this team */
export const selectNotification = (queries: Queries, teamId: string, id: string) =>
  sql`select ${details} from crux.notification n
    where n.id = ${id} and n.team_id = ${teamId}`.first<NotificationDetailsRow>(queries, 'notification')

/** The same, locked until the transaction ends, with the credentials for an update that keeps them. */
export const lockNotification = (queries: Queries, teamId: string, id: string) =>
  sql`select ${details}, n.url as sealed_url, n.secret as sealed_secret from crux.notification n
    where n.id = ${id} and n.team_id = ${teamId} for update`.first<
    NotificationDetailsRow & { sealedUrl: string | null; sealedSecret: string | null }
  >(queries, 'lock notification')

/** Two concurrent requests count each other's notification. */
export async function countNotifications(queries: Queries, teamId: string): Promise<number> {
  await lockByName(queries, `notifications of ${teamId}`)
  return (await sql`select count(*)::int from crux.notification where team_id = ${teamId}`.value<number>(queries)) ?? 0
}

/** Those of the ids that are members of the team. */
export const selectMembers = (queries: Queries, teamId: string, ids: readonly string[]) =>
  sql`select user_id from crux.team_member where team_id = ${teamId} and user_id = any(${ids})`.column(queries)

export type NotificationValues = {
  name: string
  type: NotificationType
  maskedUrl: string
  memberIds: readonly string[]
  active: boolean
  enabledEvents: readonly string[]
  userId: string
} & SealedAddress

export const insertNotification = (queries: Queries, teamId: string, values: NotificationValues & { id: string }) =>
  sql`insert into crux.notification (id, team_id, name, type, url, masked_url, secret, member_ids, active,
      enabled_events, created_by, updated_by)
    values (${values.id}, ${teamId}, ${values.name}, ${values.type}, ${values.url}, ${values.maskedUrl},
      ${values.secret}, ${values.memberIds}, ${values.active}, ${values.enabledEvents}, ${values.userId},
      ${values.userId})`.execute(queries)

/** What switched it off is over when somebody saves it. Only the previous address asked for a pause. */
export const updateNotification = (queries: Queries, id: string, values: NotificationValues & { moved: boolean }) =>
  sql`update crux.notification set name = ${values.name}, type = ${values.type}, url = ${values.url},
      masked_url = ${values.maskedUrl}, secret = ${values.secret}, member_ids = ${values.memberIds},
      active = ${values.active}, enabled_events = ${values.enabledEvents},
      problem = case when ${values.active} then null else problem end,
      paused_until = case when ${values.moved} then null else paused_until end, updated_at = now(), updated_by = ${values.userId}
    where id = ${id}`.execute(queries)

export const deleteNotification = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await sql`delete from crux.notification where id = ${id} and team_id = ${teamId}`.execute(queries)) === 1

/**
 * Switches it off, unless somebody has changed its address meanwhile.
 *
 * @returns the last editor, for whom the server acts; undefined when it was switched off already
 */
export const switchOff = (queries: Queries, id: string, { url, problem }: { url: string | null; problem: string }) =>
  sql`update crux.notification set active = false, problem = ${problem}
    where id = ${id} and active and url is not distinct from ${url}
    returning updated_by`.value(queries, 'switch off notification')
