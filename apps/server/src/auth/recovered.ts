import type { App } from '../context.ts'
import type { SessionActor } from '../http/handlers.ts'
import type { FlowAnswer } from '../identity/flows.ts'
import { sessionCookieName } from '../identity/identity.ts'

/**
 * Somebody who came in by a code has proven that the mailbox is his, not that he knows a password. Until he has set one or linked a
 * provider the account is marked, and the guard lets the session do nothing else.
 */
export async function markRecovered(app: App, person: { id: string; sessionId: string }): Promise<void> {
  await app.accounts.markRecovered(person.id)
  app.bus.publish({ type: 'person.changed', userId: person.id, sessionId: person.sessionId })
  app.log.info({ userId: person.id }, 'account recovered')
}

export async function clearRecovered(app: App, person: { id: string; sessionId: string }): Promise<void> {
  await app.accounts.clearRecovered(person.id)
  app.bus.publish({ type: 'person.changed', userId: person.id, sessionId: person.sessionId })
}

/** A linked provider ends it, too; that happens between browser and identity service, so it is looked for when the browser is back. */
export async function settleAfterProvider(app: App, cookie: string | undefined): Promise<void> {
  try {
    const actor = cookie && (await app.identity.session({ cookie }, { fresh: true }))
    if (actor) await settleRecovered(app, actor)
  } catch (err) {
    // The next look at who somebody is tries again.
    app.log.warn({ err }, 'a recovered account could not be cleared')
  }
}

export async function settleRecovered(app: App, actor: SessionActor): Promise<void> {
  if (actor.recovered && (await app.accounts.hasNewProvider(actor.id))) await clearRecovered(app, actor)
}

/** Who knows a password has no need of a new one. */
export async function clearAfterLogin(app: App, method: string, { body }: FlowAnswer): Promise<undefined> {
  type Session = { id?: string; identity?: { id: string; metadata_public?: { recovered?: unknown } | null } | null }
  const { session } = (body ?? {}) as { session?: Session }
  if (method !== 'password' || session?.identity?.metadata_public?.recovered !== true) return
  // The next password that is set would clear it, too: that it fails must not keep anybody out.
  await clearRecovered(app, { id: session.identity.id, sessionId: session.id ?? '' }).catch((err: unknown) =>
    app.log.warn({ err }, 'a recovered account could not be cleared'),
  )
}

/** The session that an answer gives to the browser. */
export function newSession(setCookie: readonly string[]): string | undefined {
  for (const cookie of setCookie) {
    const value = new RegExp(`^${sessionCookieName}=([^;]+)`).exec(cookie)?.[1]
    if (value) return `${sessionCookieName}=${value}`
  }
  return undefined
}
