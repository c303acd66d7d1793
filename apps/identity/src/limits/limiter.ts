import { createAttempts } from '@crux/postgres'
import { clientNetwork } from '@crux/service-kit'
import type { Pool } from 'pg'
import type { Limiter, LimitName, Limits } from '../app/limiter.ts'
import type { Keys } from '../crypto/secrets.ts'
import { tooManyRequests } from '../http/errors.ts'

export const defaultLimits: Limits = {
  account: { max: 10, windowSeconds: 600 },
  accountTotal: { max: 100, windowSeconds: 3_600 },
  codes: { max: 50, windowSeconds: 86_400 },
  client: { max: 100, windowSeconds: 600 },
  resend: { max: 1, windowSeconds: 30 },
  mails: { max: 30, windowSeconds: 3_600 },
  captcha: { max: 3, windowSeconds: 600 },
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
