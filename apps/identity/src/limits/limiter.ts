import type { Pool } from 'pg'
import { tooManyRequests } from '../http/errors.ts'
import type { Keys } from '../secrets.ts'

/** What is limited, how often and within how many seconds. */
const limits = {
  /** Failed attempts against one account. */
  account: { max: 10, windowSeconds: 600 },
  /** Failed attempts from one client address. */
  client: { max: 100, windowSeconds: 600 },
  /** Mails with a code to one address. */
  resend: { max: 1, windowSeconds: 30 },
} as const

type LimitName = keyof typeof limits

export interface Limiter {
  /**
   * Counts an attempt before it is made, so that attempts at the same time cannot pass together.
   *
   * @throws IdentityError 429 with Retry-After when there were too many
   */
  take(name: LimitName, subject: string): Promise<void>
  /** Counts what happened anyway, so that the next attempt may be refused. */
  note(name: LimitName, subject: string): Promise<void>
  /** Takes an attempt back that turned out harmless. */
  refund(name: LimitName, subject: string): Promise<void>
  /** Forgets the attempts against a subject that has proven itself. */
  reset(name: LimitName, subject: string): Promise<void>
  /** Deletes counters of past windows. */
  clean(): Promise<void>
}

/** Counters in PostgreSQL, shared by all processes. */
export function createLimiter(pool: Pool, keys: Keys): Limiter {
  const keyOf = (name: LimitName, subject: string) => keys.sign('limit', name, subject)
  async function count(name: LimitName, subject: string) {
    const { rows } = await pool.query<{ hits: number; wait: string }>(countSql, [
      keyOf(name, subject),
      limits[name].windowSeconds,
    ])
    return rows[0]
  }
  return {
    async take(name, subject) {
      const counter = await count(name, subject)
      if (counter && counter.hits > limits[name].max)
        throw tooManyRequests(Math.max(1, Math.ceil(Number(counter.wait))))
    },
    note: async (name, subject) => void (await count(name, subject)),
    async refund(name, subject) {
      await pool.query('update identity.rate_limits set hits = greatest(hits - 1, 0) where key = $1', [
        keyOf(name, subject),
      ])
    },
    async reset(name, subject) {
      await pool.query('delete from identity.rate_limits where key = $1', [keyOf(name, subject)])
    },
    async clean() {
      await pool.query('delete from identity.rate_limits where resets_at < now()')
    },
  }
}

/** Lifts all limits (`CRUX_RATE_LIMITS=off`); the five tries per code do not pass through here. */
export const noLimits: Limiter = {
  take: async () => undefined,
  note: async () => undefined,
  refund: async () => undefined,
  reset: async () => undefined,
  clean: async () => undefined,
}

const countSql = `
  insert into identity.rate_limits as l (key, hits, resets_at)
  values ($1, 1, now() + make_interval(secs => $2))
  on conflict (key) do update set
    hits = case when l.resets_at <= now() then 1 else l.hits + 1 end,
    resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
  returning hits, extract(epoch from resets_at - now()) as wait`
