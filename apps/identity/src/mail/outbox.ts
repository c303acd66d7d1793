import type { Database } from '@crux/postgres'
import type { Logger } from '@crux/service-kit'
import { type MailTransport, UndeliverableError } from '@crux/service-kit/mail'
import { eq, sql } from 'drizzle-orm'
import { type Executor, withoutValues } from '../db/executor.ts'
import { mailOutbox } from '../db/schema.ts'
import type { Mail } from './mail.ts'

export interface Outbox {
  /** Puts a mail into the table within the caller's transaction: it is sent if and only if that commits. */
  enqueue(tx: Executor, mail: Mail): Promise<void>
  /** The same work without a mail, so that time does not tell whether there was somebody to write to. */
  enqueueNothing(tx: Executor): Promise<void>
  /** Says that there may be mail to send; called after the commit. */
  wake(): void
  stop(): Promise<void>
}

/** How soon it looks again after the database was away, and for mail whose process ended before it was sent. */
const retryMs = 2_000
const pollMs = 10_000
/** A mail that is due and that another process holds just now must not be asked for without a pause. */
const pauseMs = 250
/** How long another process leaves a mail alone that is being sent; longer than every timeout of the transport. */
const leaseSeconds = 60

/**
 * Sends what the table holds, until it is sent or of no use any more. A mail server that is away delays mail and
 * nothing else; several processes share the work without sending twice.
 */
export function startOutbox(database: Database, transport: MailTransport, log: Logger): Outbox {
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let again = false
  let stopped = false

  function wake() {
    if (stopped) return
    if (running) {
      again = true
      return
    }
    clearTimeout(timer)
    running = drain()
      .catch((err) => {
        log.warn({ err: withoutValues(err) }, 'cannot read the mails to send')
        return retryMs
      })
      .then((nextMs) => {
        running = undefined
        if (!stopped) timer = setTimeout(wake, nextMs)
        if (again) {
          again = false
          wake()
        }
      })
  }

  /** @returns when to look again. While nothing is due, this asks one question and writes nothing */
  async function drain(): Promise<number> {
    let dueMs = await nextDueMs()
    if (dueMs <= 0) {
      await database.db.delete(mailOutbox).where(sql`${mailOutbox.usefulUntil} < now()`)
      for (let mail = await claim(); mail && !stopped; mail = await claim()) await deliver(mail)
      dueMs = await nextDueMs()
    }
    return Math.min(pollMs, Math.max(pauseMs, dueMs))
  }

  async function nextDueMs(): Promise<number> {
    const [next] = await database.db
      .select({
        ms: sql<number | null>`extract(epoch from
          min(least(${mailOutbox.nextAttemptAt}, ${mailOutbox.usefulUntil})) - now())::float8 * 1000`,
      })
      .from(mailOutbox)
    return next?.ms ?? pollMs
  }

  async function claim() {
    const due = sql`(select id from ${mailOutbox} where next_attempt_at <= now() and useful_until > now()
      order by next_attempt_at limit 1 for update skip locked)`
    const [mail] = await database.db
      .update(mailOutbox)
      .set({
        attempts: sql`${mailOutbox.attempts} + 1`,
        nextAttemptAt: sql`now() + make_interval(secs => ${leaseSeconds})`,
      })
      .where(sql`${mailOutbox.id} = ${due}`)
      .returning()
    return mail
  }

  async function deliver(mail: typeof mailOutbox.$inferSelect) {
    try {
      await transport.send(mail)
    } catch (err) {
      if (!(err instanceof UndeliverableError)) {
        const waitSeconds = Math.min(300, 2 ** mail.attempts)
        log.warn({ err, mailId: mail.id, attempts: mail.attempts, waitSeconds }, 'a mail could not be sent yet')
        await database.db
          .update(mailOutbox)
          .set({ nextAttemptAt: sql`now() + make_interval(secs => ${waitSeconds})` })
          .where(eq(mailOutbox.id, mail.id))
        return
      }
      log.warn({ err, mailId: mail.id }, 'a mail was refused for good')
    }
    await database.db.delete(mailOutbox).where(eq(mailOutbox.id, mail.id))
  }

  wake()
  return {
    enqueue: enqueueMail,
    enqueueNothing: async (tx) => void (await tx.insert(mailOutbox).values(nothing)),
    wake,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
      transport.close()
    },
  }
}

/** Of no use from the start: it is deleted before it is looked at. */
const nothing = { recipient: '', subject: '', text: '', html: '', usefulUntil: new Date(0) }

/** Puts a mail into the table, for whichever process sends what lies there. */
export async function enqueueMail(tx: Executor, mail: Mail): Promise<void> {
  await tx.insert(mailOutbox).values(mail)
}

/** For an installation that sends no mail: whoever wants to send some has not asked whether one can. */
export const noOutbox: Outbox = {
  enqueue: () => Promise.reject(new Error('this installation sends no mail')),
  enqueueNothing: async () => undefined,
  wake: () => undefined,
  stop: async () => undefined,
}
