import { and, eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import { newToken, sha256 } from '../crypto/secrets.ts'
import type { Executor } from '../db/database.ts'
import { type Flow, type FlowContext, flows, tokenExchanges } from '../db/schema.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findUser } from '../identities/store.ts'
import { signIn } from '../security/sign-in.ts'
import { methodEntry, type Proven } from '../sessions/store.ts'
import { showSession } from '../sessions/wire.ts'
import { toTarget } from './answer.ts'

/**
 * For native apps whose user signs in at a provider with a browser. The app gets one code when its flow starts, and the browser returns the other
 * one. A client that has both gets the session, once. One code alone is useless, so an address that leaks gives no access.
 */

/** The part of the context of a new flow that records whether its API client requests the first code. */
export function exchangeContext(ctx: RequestContext, type: Flow['type']): Pick<FlowContext, 'exchanges'> {
  const asked = type === 'api' && ctx.query('return_session_token_exchange_code') === 'true'
  return asked ? { exchanges: true } : {}
}

/** Creates the first code, if the flow has requested it. It is shown only in the answer that starts the flow. */
export async function startExchange(tx: Executor, flow: Flow): Promise<string | undefined> {
  if (!flow.context.exchanges) return undefined
  const initCode = newToken('') + newToken('')
  await tx.insert(tokenExchanges).values({
    flowId: flow.id,
    initCodeHash: sha256(initCode),
    // A placeholder that is replaced by the hash of an issued code once there is a session.
    returnToCodeHash: sha256(newToken('')),
  })
  return initCode
}

/**
 * Records the sign-in of a browser for the flow.
 *
 * @returns the address at which the browser continues, with the second code
 */
export async function completeTokenExchange(
  app: App,
  flow: Flow,
  proven: Proven & { identityId: string },
): Promise<string> {
  const code = newToken('') + newToken('')
  await app.database.db
    .update(tokenExchanges)
    .set({
      returnToCodeHash: sha256(code),
      identityId: proven.identityId,
      authenticationMethods: [methodEntry(proven, 'aal1', new Date())],
    })
    .where(eq(tokenExchanges.flowId, flow.id))
  const target = new URL(toTarget(app, flow))
  target.searchParams.set('code', code)
  return target.href
}

/** Returns the session to a client that presents both codes. */
export async function exchangeToken(app: App, ctx: RequestContext): Promise<unknown> {
  const initCode = ctx.query('init_code') ?? ''
  const returnToCode = ctx.query('return_to_code') ?? ''
  if (initCode === '' || returnToCode === '')
    throw badRequest('"init_code" and "return_to_code" query params must be set')
  await app.limiter.take('client', ctx.clientAddress)
  const [earned] = await app.database.db
    .delete(tokenExchanges)
    .where(
      and(
        eq(tokenExchanges.initCodeHash, sha256(initCode)),
        eq(tokenExchanges.returnToCodeHash, sha256(returnToCode)),
        isNotNull(tokenExchanges.identityId),
        sql`exists (select 1 from ${flows} where ${flows.id} = ${tokenExchanges.flowId} and ${gt(flows.expiresAt, new Date())})`,
      ),
    )
    .returning()
  const user = earned?.identityId ? await findUser(app.database.db, earned.identityId) : undefined
  if (!earned || user?.state !== 'active') throw noSession()
  await app.limiter.refund('client', ctx.clientAddress)
  const [first] = earned.authenticationMethods ?? []
  const proven = { method: first?.method ?? 'oidc', provider: first?.provider }
  const signed = await signIn(app, ctx, user, proven)
  if (!signed) throw noSession()
  return ctx.reply.send({ session_token: signed.token, session: showSession(signed, app) })
}

const noSession = () => new IdentityError(404, { reason: 'no session yet for this "code"' })
