import type { Logger } from '@crux/service-kit'
import { type MailTransport, UndeliverableError } from '@crux/service-kit/mail'
import { eq, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { type Executor, withoutValues } from '../db/database.ts'
import { mailOutbox } from '../db/schema.ts'
import type { Mail } from './mail.ts'

export interface Outbox {
  /** Enqueues a mail within the transaction of the caller: it is sent if and only if the transaction commits. */
  enqueue(tx: Executor, mail: Mail): Promise<void>
  /** Does the same work without a mail, so that the response time does not reveal whether the address is known. */
  enqueueNothing(tx: Executor): Promise<void>
  /** Signals that mails may be due; called after the commit. */
  wake(): void
  stop(): Promise<void>
}

/** The polling interval after the database was unavailable, and for mails whose process ended before they were sent. */
const retryMs = 2_000
const pollMs = 10_000
/** The polling interval for a due mail that another process is sending, which would otherwise be a busy loop. */
const pauseMs = 250
/** How long a mail that is being sent is reserved for its process; longer than every timeout of the transport. */
const leaseSeconds = 60

/**
 * Sends the mails of the table until they are sent or no longer useful. An unavailable mail server only delays mails. Several processes share the
 * work without sending a mail twice.
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

  /** @returns when to poll again. While no mail is due, this runs one query and writes nothing */
  async function drain(): Promise<number> {
    let dueMs = await nextDueMs(database.db)
    if (dueMs <= 0) {
      await database.db.delete(mailOutbox).where(sql`${mailOutbox.usefulUntil} < now()`)
      for (let mail = await claimMail(database.db); mail && !stopped; mail = await claimMail(database.db))
        await deliver(mail)
      dueMs = await nextDueMs(database.db)
    }
    return Math.min(pollMs, Math.max(pauseMs, dueMs))
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
      log.warn({ err, mailId: mail.id }, 'a mail was permanently refused')
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

/** Milliseconds until a mail is due or no longer useful; the polling interval while there is none. */
async function nextDueMs(db: Executor): Promise<number> {
  const [next] = await db
    .select({
      ms: sql<number | null>`extract(epoch from
        min(least(${mailOutbox.nextAttemptAt}, ${mailOutbox.usefulUntil})) - now())::float8 * 1000`,
    })
    .from(mailOutbox)
  return next?.ms ?? pollMs
}

/** Reserves the next due mail for this process. Mails that other processes are sending are skipped. */
async function claimMail(db: Executor) {
  const due = sql`(select id from ${mailOutbox} where next_attempt_at <= now() and useful_until > now()
    order by next_attempt_at limit 1 for update skip locked)`
  const [mail] = await db
    .update(mailOutbox)
    .set({
      attempts: sql`${mailOutbox.attempts} + 1`,
      nextAttemptAt: sql`now() + make_interval(secs => ${leaseSeconds})`,
    })
    .where(sql`${mailOutbox.id} = ${due}`)
    .returning()
  return mail
}

/** The mail is expired from the start, so the outbox deletes it without sending. */
const nothing = { recipient: '', subject: '', text: '', html: '', usefulUntil: new Date(0) }

/** Enqueues a mail for any process that sends mails. */
export async function enqueueMail(tx: Executor, mail: Mail): Promise<void> {
  await tx.insert(mailOutbox).values(mail)
}

/** For an installation that sends no mail. A caller that enqueues one has failed to check `sendsMail`. */
export const noOutbox: Outbox = {
  enqueue: () => Promise.reject(new Error('this installation sends no mail')),
  enqueueNothing: async () => undefined,
  wake: () => undefined,
  stop: async () => undefined,
}
