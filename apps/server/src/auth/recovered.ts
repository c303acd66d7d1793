import type { App } from '../context.ts'
import type { SessionActor } from '../http/handlers.ts'
import type { FlowAnswer } from '../identity/flows.ts'
import { isRecovered, sessionCookieName } from '../identity/identity.ts'

/**
 * Somebody who came in by a code has proven that the mailbox is his, not that he knows a password. Until he has set one or linked a
 * provider the account is marked, and the guard lets the session do nothing else.
 */
export async function markRecovered(
  app: App,
  person: { id: string; sessionId: string },
  cookie: string,
): Promise<void> {
  await app.accounts.markRecovered(person.id)
  app.bus.publish({ type: 'person.changed', userId: person.id, sessionId: person.sessionId })
  // Remembered here as it is now, before the browser has it; other servers have not seen it yet.
  await app.identity.session({ cookie }, { fresh: true })
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
export async function clearAfterLogin(
  app: App,
  login: { method: string; email?: string | undefined },
  answer: FlowAnswer,
): Promise<undefined> {
  if (login.method !== 'password') return
  try {
    const person = await recoveredPerson(app, login.email, answer)
    if (person) await clearRecovered(app, person)
  } catch (err) {
    // The next password that is set clears it, too: that it fails must not keep anybody out.
    app.log.warn({ err }, 'a recovered account could not be cleared')
  }
}

async function recoveredPerson(app: App, email: string | undefined, { body, setCookie }: FlowAnswer) {
  type Session = { id: string; identity?: { id: string; metadata_public?: unknown } | null }
  const { session } = (body ?? {}) as { session?: Session }
  if (session?.identity)
    return isRecovered(session.identity.metadata_public)
      ? { id: session.identity.id, sessionId: session.id }
      : undefined
  // With a second factor to come the answer does not say who it is.
  if (!newSession(setCookie) || !email) return undefined
  const account = await app.accounts.findByEmail(email)
  return account?.recovered ? { id: account.id, sessionId: '' } : undefined
}

/** The session that an answer gives to the browser. */
export function newSession(setCookie: readonly string[]): string | undefined {
  for (const cookie of setCookie) {
    const value = new RegExp(`^${sessionCookieName}=([^;]+)`).exec(cookie)?.[1]
    if (value) return `${sessionCookieName}=${value}`
  }
  return undefined
}
