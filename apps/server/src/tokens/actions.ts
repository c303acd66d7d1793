import { type Body, CruxError, limits, type ResponseInput } from '@crux/contract'
import { hashToken, makeToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { lockByName } from '../db/lock-order.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SessionActor } from '../identity/index.ts'
import { type Requester, reportTokens } from './announce.ts'
import { tokensRevoked } from './events.ts'
import { revokeTokensOfUser } from './revoke.ts'
import { deleteTokens, type Holder, insertToken, selectTokens } from './store.ts'

const dayMs = 86_400_000

export async function listTokens(app: App, actor: SessionActor): Promise<ResponseInput<'tokens.list'>> {
  // Tokens from before a recovery are invalid and not shown, even if none of them has been used since.
  const recoveredAt = (await app.identity.active(actor.id))?.recoveredAt
  if (recoveredAt) await revokeTokensOfUser(app, actor.id, { before: recoveredAt })
  return selectTokens(app.database.pool, mine(actor))
}

export async function getToken(app: App, actor: SessionActor, id: string): Promise<ResponseInput<'tokens.get'>> {
  const token = (await selectTokens(app.database.pool, mine(actor))).find((row) => row.id === id)
  if (!token) throw tokenNotFound(id)
  return token
}

export async function createToken(
  app: App,
  actor: SessionActor,
  requester: Requester,
  body: Body<'tokens.create'>,
): Promise<ResponseInput<'tokens.create'>> {
  const account = await app.accounts.find(actor.id)
  // The owner of the address may end an account that another user registered with it: a token would outlive that.
  if (account?.verified === false)
    throw new CruxError('preconditionFailed', {
      property: 'email',
      value: account.email,
      description: 'Verify your e-mail address first.',
    })
  const made = await inTransaction(app.database, async (queries) => {
    const token = await issueToken(queries, mine(actor), actor, body)
    const { name, scope } = token
    await reportTokens(app, queries, actor.id, requester, { event: 'token-created', name, scope })
    return token
  })
  app.log.info({ tokenId: made.id, userId: actor.id, scope: made.scope }, 'token created')
  return made
}

export async function deleteToken(app: App, actor: SessionActor, requester: Requester, tokenId: string): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    const [revoked] = await deleteTokens(queries, mine(actor), { tokenId })
    if (!revoked) throw tokenNotFound(tokenId)
    await reportTokens(app, queries, actor.id, requester, { event: 'token-revoked', name: revoked.name })
  })
  tokensRevoked(app, [{ id: tokenId }])
}

/**
 * Creates a token; its text is only in this response. Two concurrent calls wait for the holder's lock, so that they
 * count each other's token.
 *
 * @throws CruxError preconditionFailed when the holder has too many, alreadyExists `name`
 */
export async function issueToken(
  queries: Queries,
  holder: Holder,
  actor: SessionActor,
  wanted: Body<'tokens.create'>,
): Promise<ResponseInput<'tokens.create'>> {
  await lockByName(queries, `tokens ${JSON.stringify(holder)}`)
  const { length } = await selectTokens(queries, holder)
  if (length >= limits.tokensPerHolder)
    throw new CruxError('preconditionFailed', {
      property: 'tokens',
      description: `There are ${length} tokens already: revoke one that is not used any more.`,
    })
  const token = makeToken()
  const row = await insertToken(queries, {
    holder,
    name: wanted.name,
    scope: wanted.scope,
    hash: hashToken(token),
    aal: actor.aal,
    createdBy: actor.id,
    expiresAt: toExpiry(wanted.expirationInDays),
  })
  return { ...row, token }
}

/** With 0 or no value the token never expires. */
export const toExpiry = (days: number | null | undefined): Date | null =>
  days ? new Date(Date.now() + days * dayMs) : null

export const tokenNotFound = (id: string) => new CruxError('notFound', { property: 'tokenId', value: id })
const mine = (actor: SessionActor): Holder => ({ kind: 'user', id: actor.id })
