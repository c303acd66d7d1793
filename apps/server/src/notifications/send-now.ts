import { createHmac, hkdfSync, randomUUID } from 'node:crypto'
import { CruxError, type ResponseInput } from '@crux/contract'
import { createAttempts } from '@crux/postgres'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import { notificationNotFound, toDeliveries } from './actions.ts'
import {
  endPause,
  insertDelivery,
  insertFinishedDelivery,
  type NewDelivery,
  selectDelivery,
  selectMessage,
  selectTarget,
} from './delivery-store.ts'
import { testMessage } from './message.ts'
import type { Outcome } from './outcome.ts'
import { send } from './send.ts'
import type { Sender } from './sender.ts'
import { selectNotification } from './store.ts'
import { switchedOff } from './switched-off.ts'

const windowSeconds = 60
/** A target is somebody else's server: it must not be flooded by a button. */
const hitsMax = { test: 10, 'send-again': 30 } as const

/**
 * Makes one attempt now, also while the notification is switched off. A mail goes to each member.
 *
 * @throws CruxError invalidArgument `url` or `memberIds` with the kind of the error, tooManyRequests
 */
export async function testNotification(app: App, { team }: Caller, id: string): Promise<void> {
  const row = await selectNotification(app.database.pool, team.id, id)
  if (!row) throw notificationNotFound(id)
  await countSend(app, 'test', id)
  const target = await selectTarget(app.database.pool, id)
  if (!target) throw notificationNotFound(id)
  const recipients = target.type === 'email' ? row.memberIds : ['']
  const outcomes = await Promise.all(recipients.map((recipientId) => attemptTest(app, target, recipientId)))
  if (outcomes.some(({ kind }) => kind === 'gone') && target.active) await switchedOff(app, target, team.id)
  const failed = outcomes.find((outcome) => outcome.kind !== 'delivered')
  if (!failed) await endPause(app.database.pool, id)
  if (failed || outcomes.length === 0)
    throw new CruxError('invalidArgument', {
      property: target.type === 'email' ? 'memberIds' : 'url',
      description: failed ? describeFailure(failed) : 'None of the chosen members is in the team any more.',
    })
}

async function attemptTest(app: App, target: Parameters<typeof send>[1], recipientId: string): Promise<Outcome> {
  const delivery: NewDelivery = {
    id: await newId(app.database.pool),
    notificationId: target.id,
    recipientId,
    eventKey: `test ${randomUUID()}`,
    event: 'test',
    ...testMessage(target.name),
  }
  const startedAt = new Date()
  const outcome = await send(app, target, delivery)
  await insertFinishedDelivery(
    app.database.pool,
    { ...delivery, startedAt },
    {
      status: outcome.kind === 'delivered' ? 'delivered' : 'failed',
      statusCode: outcome.statusCode,
      error: outcome.kind === 'delivered' ? null : outcome.error,
    },
  )
  return outcome
}

const describeFailure = ({ statusCode, ...outcome }: Outcome): string =>
  statusCode === null
    ? `The message did not arrive: ${'error' in outcome ? outcome.error : 'unknown'}.`
    : `The message did not arrive: the address answered ${statusCode}.`

/**
 * The message of a delivery as a new one, with all attempts.
 *
 * @throws CruxError notFound, preconditionFailed while it is switched off, tooManyRequests
 */
export async function sendAgain(
  app: App,
  sender: Pick<Sender, 'run'>,
  { team }: Caller,
  { notificationId, deliveryId }: { notificationId: string; deliveryId: string },
): Promise<ResponseInput<'notifications.send-again'>> {
  const { pool } = app.database
  const row = await selectNotification(pool, team.id, notificationId)
  if (!row) throw notificationNotFound(notificationId)
  const message = await selectMessage(pool, notificationId, deliveryId)
  if (!message) throw new CruxError('notFound', { property: 'deliveryId', value: deliveryId })
  if (!row.active)
    throw new CruxError('preconditionFailed', {
      property: 'active',
      description: 'This notification is switched off: switch it on first.',
    })
  if ((row.type === 'email') !== (message.recipientId !== ''))
    throw new CruxError('preconditionFailed', {
      property: 'type',
      description: 'This message was meant for another type of notification.',
    })
  await countSend(app, 'send-again', notificationId)
  const id = await newId(pool)
  await insertDelivery(pool, { id, notificationId, eventKey: `again ${randomUUID()}`, ...message })
  await sender.run()
  const [delivery] = await toDeliveries(app, [await selectDelivery(pool, id)])
  if (!delivery) throw new Error('the delivery was not stored')
  return delivery
}

/** Counted in the database, so that all servers count together. */
async function countSend(app: App, what: keyof typeof hitsMax, notificationId: string): Promise<void> {
  if (!app.config.rateLimits) return
  const key = Buffer.from(hkdfSync('sha256', app.config.encryption.key, '', 'crux notification limits', 32))
  const hash = createHmac('sha256', key).update(`${what} ${notificationId}`).digest('base64url')
  const { hits, waitSeconds } = await createAttempts(app.database.pool, 'crux.rate_limit').count(hash, windowSeconds)
  if (hits <= hitsMax[what]) return
  throw new CruxError('tooManyRequests', {
    retryAfterS: waitSeconds,
    description: 'Too many messages at once. Try again in a minute.',
  })
}
