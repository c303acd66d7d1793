import { Code } from '@connectrpc/connect'
import type { App } from '../context.ts'
import { bearerToken, hashToken } from './tokens.ts'

/** A token that was good a moment ago may send: whether it still is, each call looks up for itself. */
const ttlMs = 60_000
const entriesMax = 20_000

/** Whether a message may be sent at all. Only then is it read: it may have megabytes, and would wait in memory for its judge. */
export type Admission = (authorization: string | undefined) => Promise<Code | undefined>

/** @returns a function that tells why a call is refused unread, undefined for who shows a token of an agent */
export function createUpgradeGuard(app: Pick<App, 'database' | 'log'>): Admission {
  const seen = new Map<string, number>()

  return async (authorization) => {
    const token = bearerToken(authorization)
    if (!token) return Code.Unauthenticated
    const hash = hashToken(token)
    if ((seen.get(hash) ?? 0) > Date.now()) return undefined
    try {
      const { rowCount } = await app.database.pool.query({
        name: 'token of an agent',
        text: `select from crux.node_token where hash = $1 or next_hash = $1
          union all select from crux.node_install where token_hash = $1 limit 1`,
        values: [hash],
      })
      if (rowCount === 0) return Code.Unauthenticated
    } catch (err) {
      app.log.warn({ err }, 'the token of an agent cannot be looked up')
      return Code.Unavailable
    }
    if (seen.size >= entriesMax) seen.clear()
    seen.set(hash, Date.now() + ttlMs)
    return undefined
  }
}
