import type { App } from '../context.ts'
import type { SessionActor } from '../http/handlers.ts'
import { sessionCookieName } from '../identity/identity.ts'

/**
 * Somebody who came in by a code has proven that the mailbox is his, not that he knows a password. Until he has set one or linked a
 * provider the guard lets the session do nothing else. The identity service shows how a session was opened; that its person has set
 * a password in it since is noted here, because an Ory Kratos does not show it.
 */
export async function finishRecovery(app: App, actor: SessionActor): Promise<void> {
  if (!actor.recoveredAt) return
  await app.accounts.settleRecovery(actor.id, actor.recoveredAt)
  app.bus.publish({ type: 'person.changed', userId: actor.id, sessionId: actor.sessionId })
  app.log.info({ userId: actor.id }, 'recovered account settled')
}

/** What was changed between browser and identity service counts at once: who it is, is asked anew. */
export async function settingsPassed(app: App, cookie: string | undefined): Promise<void> {
  try {
    if (cookie && (await app.identity.session({ cookie }))?.recovered)
      await app.identity.session({ cookie }, { fresh: true })
  } catch (err) {
    // Within 2 s it is asked for anyway.
    app.log.warn({ err }, 'who changed the settings cannot be asked for now')
  }
}

/** The session that an answer gives to the browser. */
export function newSession(setCookie: readonly string[]): string | undefined {
  for (const cookie of setCookie) {
    const value = new RegExp(`^${sessionCookieName}=([^;]+)`).exec(cookie)?.[1]
    if (value) return `${sessionCookieName}=${value}`
  }
  return undefined
}
