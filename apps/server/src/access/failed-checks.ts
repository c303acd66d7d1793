import { createHmac, hkdfSync } from 'node:crypto'
import { CruxError } from '@crux/contract'
import { createAttempts } from '@crux/postgres'
import { clientNetwork, createTtlCache } from '@crux/service-kit'
import type { App } from '../context.ts'

/** The limit of failed token checks per client address. */
const failuresMax = 100
const windowSeconds = 600

export interface FailedChecks {
  /**
   * Counts an invalid token. A client that guesses is refused after the limit. A valid token from the same address
   * still works, because 256 bits cannot be guessed and a broken script at the same address must not lock others out.
   *
   * @throws CruxError tooManyRequests with the seconds to wait
   */
  count(address: string): Promise<void>
  clean(): Promise<void>
}

/** Shared by all servers through the database. Addresses over the limit are cached, so that a flood writes nothing. */
export function createFailedChecks(app: Pick<App, 'config' | 'database'>): FailedChecks {
  if (!app.config.rateLimits) return { count: async () => undefined, clean: async () => undefined }
  const attempts = createAttempts(app.database.pool, 'crux.rate_limit')
  const key = Buffer.from(hkdfSync('sha256', app.config.encryption.key, '', 'crux server limits', 32))
  /** The time at which a blocked address may try again. */
  const blocked = createTtlCache<string, number>({ ttlMs: windowSeconds * 1_000, max: 10_000 })

  return {
    async count(from) {
      const address = clientNetwork(from)
      const until = blocked.get(address)
      if (until !== undefined) throw tooMany(until)
      const hash = createHmac('sha256', key).update(`token ${address}`).digest('base64url')
      const { hits, waitSeconds } = await attempts.count(hash, windowSeconds)
      if (hits <= failuresMax) return
      const end = Date.now() + waitSeconds * 1_000
      blocked.set(address, end, { ttlMs: waitSeconds * 1_000 })
      throw tooMany(end)
    },
    clean: () => attempts.clean(),
  }
}

const tooMany = (until: number) =>
  new CruxError('tooManyRequests', {
    description: 'Too many attempts with tokens that are not valid. Wait before you try again.',
    retryAfterS: (until - Date.now()) / 1_000,
  })
