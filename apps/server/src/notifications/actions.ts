import { CruxError, limits, type NotificationWrite, type Query, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { readAddress } from './address.ts'
import { type DeliveryRow, selectDeliveries, skipDeliveries } from './delivery-store.ts'
import * as store from './store.ts'

type Details = ResponseInput<'notifications.get'>

export const listNotifications = (app: App, { team }: Caller): Promise<ResponseInput<'notifications.list'>> =>
  store.selectNotifications(app.database.pool, team.id)

export async function getNotification(app: App, { team }: Caller, id: string): Promise<Details> {
  const row = await store.selectNotification(app.database.pool, team.id, id)
  if (!row) throw notificationNotFound(id)
  const { memberIds, hasSecret, ...rest } = row
  if (row.type === 'webhook') return { ...rest, hasSecret }
  if (row.type !== 'email') return rest
  const people = await app.identity.people(memberIds)
  const members = memberIds.map((userId) => {
    const { name = '', email = '' } = people.get(userId) ?? {}
    return { id: userId, name, email }
  })
  return { ...rest, members }
}

/**
 * @throws CruxError alreadyExists `name`, preconditionFailed when the team has too many, and as `readAddress`
 */
export async function createNotification(app: App, caller: Caller, write: NotificationWrite): Promise<Details> {
  const { team, actor } = caller
  const id = await newId(app.database.pool)
  await inTransaction(app.database, async (queries) => {
    const count = await store.countNotifications(queries, team.id)
    if (count >= limits.notifications)
      throw new CruxError('preconditionFailed', {
        property: 'notifications',
        description: `There are ${count} notifications already: delete one that is not used any more.`,
      })
    const { moved: _, ...address } = await readAddress(app, queries, team.id, id, write)
    await store.insertNotification(queries, team.id, { id, ...address, ...getValues(write), userId: actor.id })
  })
  recordEvent(app, { teamId: team.id, notificationId: id }, 'notification created')
  return getNotification(app, caller, id)
}

/**
 * Messages that wait are not sent when it is switched off or goes to another address.
 *
 * @throws CruxError notFound, alreadyExists `name`, and as `readAddress`
 */
export async function updateNotification(
  app: App,
  { team, actor }: Caller,
  id: string,
  write: NotificationWrite,
): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    const before = await store.lockNotification(queries, team.id, id)
    if (!before) throw notificationNotFound(id)
    const { moved, ...address } = await readAddress(app, queries, team.id, id, write, before)
    await store.updateNotification(queries, id, { ...address, ...getValues(write), moved, userId: actor.id })
    if (!write.active || moved) await skipDeliveries(queries, id)
    else if (write.type === 'email') await skipDeliveries(queries, id, address.memberIds)
  })
  recordEvent(app, { teamId: team.id, notificationId: id }, 'notification changed')
}

/** Its deliveries are deleted with it. */
export async function removeNotification(app: App, { team }: Caller, id: string): Promise<void> {
  if (!(await store.deleteNotification(app.database.pool, team.id, id))) throw notificationNotFound(id)
  recordEvent(app, { teamId: team.id, notificationId: id }, 'notification removed')
}

export async function listDeliveries(
  app: App,
  { team }: Caller,
  id: string,
  page: Query<'notifications.deliveries'>,
): Promise<ResponseInput<'notifications.deliveries'>> {
  if (!(await store.selectNotification(app.database.pool, team.id, id))) throw notificationNotFound(id)
  const { items, total } = await selectDeliveries(app.database.pool, id, page)
  return { items: await toDeliveries(app, items), total }
}

export async function toDeliveries(
  app: Pick<App, 'identity'>,
  rows: readonly DeliveryRow[],
): Promise<ResponseInput<'notifications.deliveries'>['items']> {
  const people = await app.identity.people(rows.flatMap(({ recipientId }) => recipientId || []))
  return rows.map(({ recipientId, ...row }) =>
    recipientId === '' ? row : { ...row, recipient: people.get(recipientId)?.name ?? 'Unknown user' },
  )
}

export const notificationNotFound = (id: string) => new CruxError('notFound', { property: 'notificationId', value: id })

const getValues = ({ name, type, active, enabledEvents }: NotificationWrite) => ({
  name,
  type,
  active,
  enabledEvents: [...new Set(enabledEvents)],
})
