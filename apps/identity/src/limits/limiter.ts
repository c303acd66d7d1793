import { createAttempts } from '@crux/postgres'
import { clientNetwork } from '@crux/service-kit'
import type { Pool } from 'pg'
import type { Limiter, LimitName, Limits } from '../app/limiter.ts'
import type { Keys } from '../crypto/secrets.ts'
import { tooManyRequests } from '../http/errors.ts'

/** Counters in PostgreSQL, which all processes share. */
export function createLimiter(pool: Pool, keys: Keys, limits: Limits): Limiter {
  const attempts = createAttempts(pool, 'identity.rate_limits')
  const toKey = (name: LimitName, subject: string) =>
    keys.sign('limit', name, name === 'client' ? clientNetwork(subject) : subject)
  const count = (name: LimitName, subject: string) => attempts.count(toKey(name, subject), limits[name].windowSeconds)
  return {
    async take(name, subject) {
      const { hits, waitSeconds } = await count(name, subject)
      if (hits > limits[name].max) throw tooManyRequests(waitSeconds)
    },
    isReached: async (name, subject) => (await attempts.read(toKey(name, subject))) >= limits[name].max,
    note: async (name, subject) => void (await count(name, subject)),
    refund: (name, subject) => attempts.refund(toKey(name, subject)),
    reset: (name, subject) => attempts.reset(toKey(name, subject)),
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
  clean: async () => undefined,
}
