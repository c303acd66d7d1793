import { createAttempts } from '@crux/postgres'
import { clientNetwork } from '@crux/service-kit'
import type { Pool } from 'pg'
import type { Keys } from '../crypto/secrets.ts'
import { tooManyRequests } from '../http/errors.ts'

/** A count per number of seconds. */
export interface Limit {
  max: number
  windowSeconds: number
}

/** The limits of the service; each is a setting. */
export interface Limits {
  /** Failed attempts per account and network, or from all known devices of the account. */
  account: Limit
  /** Failed passwords per account, from all networks. */
  accountTotal: Limit
  /** Wrong codes per account and day. */
  codes: Limit
  /** Failed attempts and requested mails per client address, for IPv6 per /64 network. */
  client: Limit
  /** Mails with a code to one address, per requesting network or for all known devices of its owner together. */
  resend: Limit
  /** Mails with a code to one address, requested by unknown devices from all networks. */
  mails: Limit
  /** Failed sign-ins with one address, after which a captcha is required. */
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
   * Counts an attempt before it is made, so that concurrent attempts cannot pass together.
   *
   * @throws IdentityError 429 with Retry-After when there were too many
   */
  take(name: LimitName, subject: string): Promise<void>
  /** Whether the limit is reached; does not count an attempt. */
  isReached(name: LimitName, subject: string): Promise<boolean>
  /** Counts an attempt that already happened, so that the next one may be refused. */
  note(name: LimitName, subject: string): Promise<void>
  /** Undoes the count of an attempt that turned out to be harmless. */
  refund(name: LimitName, subject: string): Promise<void>
  /** Resets the count of a subject that has authenticated. */
  reset(name: LimitName, subject: string): Promise<void>
  /** The network of a client, for use in a subject. */
  networkOf(clientAddress: string): string
  /** Deletes counters of past windows. */
  clean(): Promise<void>
}

/** Counters in PostgreSQL, which all processes share. */
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

/** Turns all limits off (`CRUX_RATE_LIMITS=off`). The five attempts per code are not affected. */
export const noLimits: Limiter = {
  take: async () => undefined,
  isReached: async () => false,
  note: async () => undefined,
  refund: async () => undefined,
  reset: async () => undefined,
  networkOf: clientNetwork,
  clean: async () => undefined,
}
