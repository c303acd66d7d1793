import { sessionCookieName } from '@crux/contract'
import type { App } from '../context.ts'
import type { SessionActor } from '../identity/index.ts'

/**
 * A user who signed in with a code has proven access to the mailbox, but no knowledge of a password. Until they have
 * set a password or linked a provider the guard lets the session do nothing else. The identity service shows how a
 * session was opened. That a password was set in it since is recorded here, because Ory Kratos does not show it.
 */
export async function finishRecovery(app: App, actor: SessionActor): Promise<void> {
  if (!actor.recoveredAt) return
  await app.accounts.settleRecovery(actor.id, actor.recoveredAt)
  app.bus.publish({ type: 'user.changed', userId: actor.id, sessionId: actor.sessionId })
  app.log.info({ userId: actor.id }, 'recovered account finalized')
}

/** Changes between browser and identity service count at once: the session is read again. */
export async function settingsPassed(app: App, cookie: string | undefined): Promise<void> {
  try {
    if (cookie && (await app.identity.session({ cookie }))?.recovered)
      await app.identity.session({ cookie }, { fresh: true })
  } catch (err) {
    // Cached sessions expire within 2 s anyway.
    app.log.warn({ err }, 'the session was not read again after a change of its account')
  }
}

/** The session that a response gives to the browser. */
export function newSession(setCookie: readonly string[]): string | undefined {
  for (const cookie of setCookie) {
    const value = new RegExp(`^${sessionCookieName}=([^;]+)`).exec(cookie)?.[1]
    if (value) return `${sessionCookieName}=${value}`
  }
  return undefined
}
