import type { NotificationDeliveryStatus, NotificationEvent, NotificationType, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { Message } from './message.ts'
import { deliveryMs } from './outcome.ts'

/** A claim of a server that has ended is taken over after this time, which is longer than an attempt may take. */
const claimSeconds = 60

export type DeliveryEvent = NotificationEvent | 'test'
/** A delivery whose attempt this server makes. */
export type ClaimedDelivery = {
  id: string
  notificationId: string
  teamId: string
  recipientId: string
  event: DeliveryEvent
  text: string
  data: Message['data']
  /** With this attempt. */
  attempts: number
  createdAt: Date
}
/** Where a delivery goes, as it is at the time of the attempt. */
export type Target = {
  id: string
  name: string
  type: NotificationType
  /** Encrypted. */
  url: string | null
  secret: string | null
  active: boolean
  team: { id: string; slug: string; name: string }
}

/**
 * Creates one delivery per active notification that wants the event, for e-mail one per member. The unique key makes
 * them once, however often and by how many servers the event is handled.
 *
 * @returns how many are new
 */
export const insertDeliveries = (
  queries: Queries,
  { key, teamId, event, text, data }: { key: string; teamId: string; event: NotificationEvent } & Message,
) =>
  sql`insert into crux.notification_delivery (notification_id, recipient_id, event_key, event, text, data,
      next_attempt_at)
    select n.id, coalesce(m.user_id, ''), ${key}, ${event}, ${text}, ${JSON.stringify(data)}::jsonb, greatest(now(), n.paused_until)
    from crux.notification n
    left join crux.team_member m on n.type = 'email' and m.team_id = n.team_id and m.user_id = any(n.member_ids)
    where n.team_id = ${teamId} and n.active and ${event} = any(n.enabled_events)
      and (n.type <> 'email' or m.user_id is not null)
    on conflict do nothing`.execute(queries, 'insert deliveries of an event')

/**
 * Claims deliveries that are due, for this server alone: one per notification, so that its messages keep their order and
 * one that hangs holds no others. Callers hold a lock, because two claims at once do not see what the other one claims.
 *
 * @param busy notifications that this server sends to at this moment, and teams for which it sends enough
 */
export const claimDeliveries = (
  queries: Queries,
  {
    max,
    perTeam,
    busy,
  }: { max: number; perTeam: number; busy: { notifications: readonly string[]; teams: readonly string[] } },
) =>
  sql`with due as (
      select d.id, d.notification_id, d.created_at, n.team_id
      from crux.notification_delivery d join crux.notification n on n.id = d.notification_id
      where d.status = 'pending' and d.next_attempt_at <= now()
        and (d.claimed_at is null or d.claimed_at < now() - ${claimSeconds} * interval '1 second')
        and not exists (select from crux.notification_delivery held where held.notification_id = d.notification_id
          and held.status = 'pending' and held.claimed_at >= now() - ${claimSeconds} * interval '1 second')
        and not (d.notification_id = any(${busy.notifications}::uuid[])) and not (n.team_id = any(${busy.teams}::uuid[]))
      order by d.next_attempt_at limit ${2 * max} for update of d skip locked),
    firsts as (select distinct on (notification_id) * from due order by notification_id, created_at, id),
    numbered as (select *, row_number() over (partition by team_id order by created_at, id) as number from firsts),
    chosen as (select * from numbered where number <= ${perTeam} order by created_at, id limit ${max})
    update crux.notification_delivery d
    set claimed_at = clock_timestamp(), attempts = d.attempts + 1, last_attempt_at = clock_timestamp()
    from chosen where d.id = chosen.id
    returning d.id, d.notification_id, chosen.team_id, d.recipient_id, d.event, d.text, d.data, d.attempts,
      d.created_at`.rows<ClaimedDelivery>(queries, 'claim deliveries')

const targetColumns = sql`n.id, n.name, n.type, n.url, n.secret, n.active,
  json_build_object('id', t.id, 'slug', t.slug, 'name', t.name) as team`

export const selectTarget = (queries: Queries, notificationId: string) =>
  sql`select ${targetColumns} from crux.notification n join crux.team t on t.id = n.team_id
    where n.id = ${notificationId}`.first<Target>(queries, 'target of a delivery')

/** Whether a user is a member of the team, and still gets the mails of the notification. */
export const isRecipient = async (queries: Queries, notificationId: string, userId: string): Promise<boolean> =>
  (await sql`select from crux.notification n join crux.team_member m on m.team_id = n.team_id
    where n.id = ${notificationId} and m.user_id = ${userId} and ${userId} = any(n.member_ids)`.execute(
    queries,
    'recipient of a delivery',
  )) === 1

export type AttemptEnd = {
  status: NotificationDeliveryStatus
  statusCode: number | null
  error: string | null
  /** For `pending`. */
  nextAttemptAt: Date | null
}

/**
 * Stores the end of an attempt. Nothing changes when another server has taken the delivery over; one that was skipped
 * meanwhile stays so, unless it has arrived.
 */
export const finishAttempt = (
  queries: Queries,
  { id, attempts }: Pick<ClaimedDelivery, 'id' | 'attempts'>,
  { status, statusCode, error, nextAttemptAt }: AttemptEnd,
) =>
  sql`update crux.notification_delivery set claimed_at = null,
      status = case when status = 'pending' or ${status} = 'delivered' then ${status} else status end,
      status_code = ${statusCode}, error = ${error},
      next_attempt_at = case when status = 'pending' then ${nextAttemptAt}::timestamptz end,
      finished_at = case when ${status} <> 'pending' or status <> 'pending' then now() end
    where id = ${id} and attempts = ${attempts}`.execute(queries, 'finish attempt')

/**
 * The receiver wants no requests until then: the other deliveries of the notification wait as well, and so do those of
 * later events. The last attempt of each stays a day after it was created.
 *
 * @param url where the receiver was; another one has asked for nothing
 */
export const pauseDeliveries = (
  queries: Queries,
  notificationId: string,
  { until, url }: { until: Date; url: string | null },
) =>
  sql`with paused as (update crux.notification set paused_until = greatest(paused_until, ${until})
      where id = ${notificationId} and url is not distinct from ${url} returning id)
    update crux.notification_delivery d
    set next_attempt_at = least(${until}, greatest(d.next_attempt_at, d.created_at + ${deliveryMs} * interval '1 ms'))
    from paused where d.notification_id = paused.id and d.status = 'pending' and d.claimed_at is null
      and d.next_attempt_at < ${until}`.execute(queries, 'pause deliveries')

/** The receiver takes messages again: what waits for it is due now. Does nothing without a pause. */
export const endPause = (queries: Queries, notificationId: string) =>
  sql`with resumed as (update crux.notification set paused_until = null
      where id = ${notificationId} and paused_until > now() returning id)
    update crux.notification_delivery d set next_attempt_at = now() from resumed
    where d.notification_id = resumed.id and d.status = 'pending'
      and d.claimed_at is null`.execute(queries, 'end pause')

/**
 * Ends the deliveries that wait, because their notification was switched off or goes elsewhere now.
 *
 * @param keep recipients whose mails are still sent
 */
export const skipDeliveries = (queries: Queries, notificationId: string, keep: readonly string[] = []) =>
  sql`update crux.notification_delivery set status = 'skipped', claimed_at = null, next_attempt_at = null,
      finished_at = now()
    where notification_id = ${notificationId} and status = 'pending' and not (recipient_id = any(${keep}))`.execute(
    queries,
    'skip deliveries',
  )

export type NewDelivery = Omit<ClaimedDelivery, 'attempts' | 'createdAt' | 'teamId'> & { eventKey: string }

/** A delivery that is sent like that of an event. */
export const insertDelivery = (queries: Queries, delivery: NewDelivery) =>
  sql`insert into crux.notification_delivery (id, notification_id, recipient_id, event_key, event, text, data,
      next_attempt_at)
    values (${delivery.id}, ${delivery.notificationId}, ${delivery.recipientId}, ${delivery.eventKey},
      ${delivery.event}, ${delivery.text}, ${JSON.stringify(delivery.data)}::jsonb,
      greatest(now(), (select paused_until from crux.notification where id = ${delivery.notificationId})))`.execute(
    queries,
  )

/** A delivery whose only attempt is over. */
export const insertFinishedDelivery = (
  queries: Queries,
  delivery: NewDelivery & { startedAt: Date },
  { status, statusCode, error }: Omit<AttemptEnd, 'nextAttemptAt'>,
) =>
  sql`insert into crux.notification_delivery (id, notification_id, recipient_id, event_key, event, text, data, status,
      attempts, status_code, error, created_at, last_attempt_at, finished_at)
    values (${delivery.id}, ${delivery.notificationId}, ${delivery.recipientId}, ${delivery.eventKey},
      ${delivery.event}, ${delivery.text}, ${JSON.stringify(delivery.data)}::jsonb, ${status}, 1, ${statusCode},
      ${error}, ${delivery.startedAt}, ${delivery.startedAt}, now())`.execute(queries)

/** Of this notification only. */
export const selectMessage = (queries: Queries, notificationId: string, deliveryId: string) =>
  sql`select recipient_id, event, text, data from crux.notification_delivery
    where id = ${deliveryId} and notification_id = ${notificationId}`.first<
    Pick<ClaimedDelivery, 'recipientId' | 'event' | 'text' | 'data'>
  >(queries, 'message of a delivery')

type Listed = ResponseInput<'notifications.deliveries'>['items'][number]
export type DeliveryRow = Omit<Listed, 'recipient'> & { recipientId: string }

const columns = sql`d.id, d.event, d.text, d.created_at, d.status, d.attempts, d.status_code, d.error,
  d.last_attempt_at, d.next_attempt_at, d.finished_at, d.recipient_id`

export async function selectDeliveries(
  queries: Queries,
  notificationId: string,
  { skip, take }: { skip: number; take: number },
): Promise<{ items: DeliveryRow[]; total: number }> {
  const [items, total = 0] = await Promise.all([
    sql`select ${columns} from crux.notification_delivery d where d.notification_id = ${notificationId}
      order by d.created_at desc nulls first, d.id desc nulls first offset ${skip} limit ${take}`.rows<DeliveryRow>(
      queries,
      'deliveries',
    ),
    sql`select count(*)::int from crux.notification_delivery
      where notification_id = ${notificationId}`.value<number>(queries, 'count deliveries'),
  ])
  return { items, total }
}

export const selectDelivery = (queries: Queries, id: string) =>
  sql`select ${columns} from crux.notification_delivery d where d.id = ${id}`.one<DeliveryRow>(queries, 'delivery')

/** @returns how many */
export const deleteOldDeliveries = (queries: Queries, { days, max }: { days: number; max: number }) =>
  sql`delete from crux.notification_delivery where id in (
    select id from crux.notification_delivery where created_at < now() - make_interval(days => ${days})
    order by created_at limit ${max})`.execute(queries, 'delete old deliveries')

/** Notifications with more deliveries than are kept. */
export const selectCrowded = (queries: Queries, kept: number) =>
  sql`select n.id from crux.notification n where exists (
    select from crux.notification_delivery d where d.notification_id = n.id
    order by d.created_at desc nulls first, d.id desc nulls first offset ${kept} limit 1)`.column(queries)

/** Deletes all but the newest deliveries. @returns how many */
export const trimDeliveries = (
  queries: Queries,
  notificationId: string,
  { kept, max }: { kept: number; max: number },
) =>
  sql`delete from crux.notification_delivery where id in (
    select id from crux.notification_delivery where notification_id = ${notificationId}
    order by created_at desc nulls first, id desc nulls first offset ${kept} limit ${max})`.execute(
    queries,
    'trim deliveries of a notification',
  )
