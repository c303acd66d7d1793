import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Requester, reportTokens, unknownRequester } from './announce.ts'
import { tokensRevoked } from './events.ts'
import { deleteTokens } from './store.ts'

/**
 * Revokes all API tokens of a user and notifies them with their number.
 *
 * @param options.before only tokens that were created until then
 * @returns how many were revoked
 */
export async function revokeTokensOfUser(
  app: Pick<App, 'bus' | 'database' | 'jobs' | 'log' | 'metrics'>,
  userId: string,
  options: { before?: Date; requester?: Requester } = {},
): Promise<number> {
  const { before, requester = unknownRequester } = options
  const revoked = await inTransaction(app.database, async (queries) => {
    const tokens = await deleteTokens(queries, { kind: 'user', id: userId }, before && { before })
    if (tokens.length > 0)
      await reportTokens(app, queries, userId, requester, { event: 'tokens-revoked', count: tokens.length })
    return tokens
  })
  tokensRevoked(app, revoked)
  return revoked.length
}
