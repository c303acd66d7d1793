import type { App } from '../app/app.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { User } from '../identities/store.ts'
import type { Signed } from '../sessions/current.ts'
import { findSession, openSession, type Proven } from '../sessions/store.ts'
import { recordSecurityEvent } from './events.ts'

/**
 * Opens a session for a user who has authenticated.
 *
 * @returns undefined when the account was disabled or deleted meanwhile
 */
export async function signIn(
  app: App,
  ctx: RequestContext,
  user: User,
  { method, provider }: Proven,
): Promise<Signed | undefined> {
  const { token } = await app.database.transaction(async (tx) => {
    await recordSecurityEvent(tx, app, ctx, user, { event: 'signed-in', method, provider })
    return openSession(tx, ctx, user.id, { method, provider })
  })
  app.outbox.wake()
  const details = await findSession(app.database, token)
  return details && { ...details, token }
}
