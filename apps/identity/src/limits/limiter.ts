import { createAttempts } from '@crux/postgres'
import { clientNetwork } from '@crux/service-kit'
import type { Pool } from 'pg'
import { tooManyRequests } from '../http/errors.ts'
import type { Keys } from '../secrets.ts'

/** How often within how many seconds. */
export interface Limit {
  max: number
  windowSeconds: number
}

/** What is limited; each a setting of the service. */
export interface Limits {
  /** Failed attempts against one account from one network, or from all its known devices. */
  account: Limit
  /** Failed passwords of one account from wherever. */
  accountTotal: Limit
  /** Wrong codes of one account, a day. */
  codes: Limit
  /** Failed attempts, and mails asked for, from one client address; of IPv6 from one network of 64 bits. */
  client: Limit
  /** Mails with a code to one address, asked for from one network, or from all known devices of its owner. */
  resend: Limit
  /** Mails with a code to one address, asked for by unknown devices from wherever. */
  mails: Limit
  /** Failed sign-ins of one address, after which a captcha is asked for. */
  captcha: Limit
}

export const defaultLimits: Limits = {
  account: { max: 10, windowSeconds: 600 },
  accountTotal: { max: 100, windowSeconds: 3_600 },
  codes: { max: 50, windowSeconds: 86_400 },
  client: { max: 100, windowSeconds: 600 },
  resend: { max: 1, windowSeconds: 30 },
  mails: { max: 30, windowSeconds: 3_600 },
  captcha: { max: 3, windowSeconds: 600 },
}

type LimitName = keyof Limits

export interface Limiter {
  /**
   * Counts an attempt before it is made, so that attempts at the same time cannot pass together.
   *
   * @throws IdentityError 429 with Retry-After when there were too many
   */
  take(name: LimitName, subject: string): Promise<void>
  /** Whether there were as many attempts as are allowed; counts none. */
  isReached(name: LimitName, subject: string): Promise<boolean>
  /** Counts what happened anyway, so that the next attempt may be refused. */
  note(name: LimitName, subject: string): Promise<void>
  /** Takes an attempt back that turned out harmless. */
  refund(name: LimitName, subject: string): Promise<void>
  /** Forgets the attempts against a subject that has proven itself. */
  reset(name: LimitName, subject: string): Promise<void>
  /** What stands for a client's network in a subject. */
  networkOf(clientAddress: string): string
  /** Deletes counters of past windows. */
  clean(): Promise<void>
}

/** Counters in PostgreSQL, shared by all processes. */
export function createLimiter(pool: Pool, keys: Keys, limits: Limits = defaultLimits): Limiter {
  const attempts = createAttempts(pool, 'identity.rate_limits')
  const keyOf = (name: LimitName, subject: string) =>
    keys.sign('limit', name, name === 'client' ? clientNetwork(subject) : subject)
  const count = (name: LimitName, subject: string) => attempts.count(keyOf(name, subject), limits[name].windowSeconds)
  return {
    async take(name, subject) {
      const { hits, waitSeconds } = await count(name, subject)
      if (hits > limits[name].max) throw tooManyRequests(waitSeconds)
    },
    isReached: async (name, subject) => (await attempts.read(keyOf(name, subject))) >= limits[name].max,
    note: async (name, subject) => void (await count(name, subject)),
    refund: (name, subject) => attempts.refund(keyOf(name, subject)),
    reset: (name, subject) => attempts.reset(keyOf(name, subject)),
    networkOf: clientNetwork,
    clean: () => attempts.clean(),
  }
}

/** Lifts all limits (`CRUX_RATE_LIMITS=off`); the five tries per code do not pass through here. */
export const noLimits: Limiter = {
  take: async () => undefined,
  isReached: async () => false,
  note: async () => undefined,
  refund: async () => undefined,
  reset: async () => undefined,
  networkOf: clientNetwork,
  clean: async () => undefined,
}
