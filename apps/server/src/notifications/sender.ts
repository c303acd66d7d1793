import { createClaimLoop, createRounds, inBackground, withinTime } from '@crux/service-kit'
import type { App } from '../context.ts'
import { lockByName } from '../db/lock-order.ts'
import { inTransaction } from '../db/transaction.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  finishAttempt,
  pauseDeliveries,
  selectTarget,
  skipDeliveries,
  type Target,
} from './delivery-store.ts'
import { getNextAttempt, type Outcome } from './outcome.ts'
import { send } from './send.ts'
import { switchedOff } from './switched-off.ts'

const roundMs = 5_000
const attemptsMax = 40
const stopMs = 2_000
/** Targets of one team that hang must not delay those of other teams. */
const perTeamMax = 8

export type Sender = ReturnType<typeof createSender>

/** Sends the deliveries that are due. All state is in their rows, so that several servers share the work. */
export function createSender(app: App) {
  const running = new Map<string, ClaimedDelivery>()
  const attempts = new Set<Promise<void>>()
  const claims = createClaimLoop(claim)

  const rounds = createRounds({
    intervalMs: roundMs,
    round: claims.run,
    failed: (err) => app.log.warn({ err }, 'notifications were not sent'),
  })

  async function claim(): Promise<number> {
    const free = attemptsMax - running.size
    if (free === 0) return 0
    const claimed = await inTransaction(app.database, async (queries) => {
      await lockByName(queries, 'claim deliveries')
      return claimDeliveries(queries, { max: free, perTeam: perTeamMax, busy: listBusy() })
    })
    for (const delivery of claimed) start(delivery)
    return claimed.length
  }

  function listBusy() {
    const teams = new Map<string, number>()
    for (const { teamId } of running.values()) teams.set(teamId, (teams.get(teamId) ?? 0) + 1)
    return {
      notifications: [...running.keys()],
      teams: [...teams].flatMap(([id, count]) => (count >= perTeamMax ? [id] : [])),
    }
  }

  function start(delivery: ClaimedDelivery) {
    running.set(delivery.notificationId, delivery)
    const attempt: Promise<void> = makeAttempt(app, delivery)
      // The claim expires, and the attempt is repeated then.
      .catch((err: unknown) =>
        app.log.warn({ err, deliveryId: delivery.id }, 'a notification was not sent, it is tried again'),
      )
      .finally(() => {
        running.delete(delivery.notificationId)
        attempts.delete(attempt)
        inBackground('notifications', claims.run)
      })
    attempts.add(attempt)
  }

  return {
    /** Starts what is due, as far as this server has room for it. */
    run: claims.run,
    start: () => {
      rounds.start()
      inBackground('notifications', claims.run)
    },
    /** Waits a moment for the attempts that run: one whose result is lost is repeated by another server. */
    async stop() {
      await claims.stop()
      await rounds.stop()
      await withinTime(Promise.all(attempts), stopMs, () => undefined)
    },
  }
}

async function makeAttempt(app: App, delivery: ClaimedDelivery): Promise<void> {
  const { pool } = app.database
  const target = await selectTarget(pool, delivery.notificationId)
  // It was deleted, and its deliveries with it.
  if (!target) return
  if (!target.active) {
    await skipDeliveries(pool, target.id)
    return
  }
  const outcome = await send(app, target, delivery)
  await finish(app, target, delivery, outcome)
  if (outcome.kind === 'gone') await switchedOff(app, target, delivery.teamId)
}

async function finish(app: App, { url }: Target, delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
  const { pool } = app.database
  const { id: deliveryId, notificationId, event, attempts } = delivery
  if (outcome.kind === 'delivered') {
    await finishAttempt(pool, delivery, { ...outcome, status: 'delivered', error: null, nextAttemptAt: null })
    app.log.info({ deliveryId, notificationId, event, attempts }, 'notification delivered')
    return
  }
  const { statusCode, error, retryAfterMs } = outcome
  const nextAttemptAt = getNextAttempt(outcome, delivery) ?? null
  const status = nextAttemptAt ? 'pending' : 'failed'
  await finishAttempt(pool, delivery, { status, statusCode, error, nextAttemptAt })
  if (retryAfterMs !== undefined)
    await pauseDeliveries(pool, notificationId, { until: new Date(Date.now() + retryAfterMs), url })
  app.log.warn({ deliveryId, notificationId, event, attempts, statusCode, error, nextAttemptAt }, 'notification failed')
}
