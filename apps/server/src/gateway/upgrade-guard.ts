import { Code } from '@connectrpc/connect'
import { createTtlCache } from '@crux/service-kit'
import { bearerToken, hashToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { isAgentToken } from './token-store.ts'

/** A token that was valid recently may send; each call itself checks whether it still is. */
const ttlMs = 60_000

/**
 * Whether a message may be sent at all, checked before it is read: it may have megabytes, which would be kept in memory
 * during the check.
 */
export type Admission = (authorization: string | undefined) => Promise<Code | undefined>

/** @returns a function that gives the reason for refusing a call unread, undefined for callers with the token of an agent */
export function createUpgradeGuard(app: Pick<App, 'database' | 'log'>): Admission {
  const seen = createTtlCache<string, true>({ ttlMs, max: 20_000 })

  return async (authorization) => {
    const token = bearerToken(authorization)
    if (!token) return Code.Unauthenticated
    const hash = hashToken(token)
    if (seen.get(hash)) return undefined
    try {
      if (!(await isAgentToken(app.database.pool, hash))) return Code.Unauthenticated
    } catch (err) {
      app.log.warn({ err }, 'the token of an agent cannot be looked up')
      return Code.Unavailable
    }
    seen.set(hash, true)
    return undefined
  }
}
