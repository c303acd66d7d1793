import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Bus } from '../../src/bus/bus.ts'
import type { Account, Accounts } from '../../src/identity/accounts.ts'
import type { Identity } from '../../src/identity/identity.ts'
import type { Person, SessionActor } from '../../src/identity/person.ts'
import { createSessionCache } from '../../src/identity/session-cache.ts'

type SignIn = { expiresInMs?: number; authenticatedAt?: Date; aal?: SessionActor['aal']; recovered?: boolean }
/** A signed-in user: an actor with the token of the session. */
export type Someone = SessionActor & { token: string }

/**
 * People without an identity service, replaced at the boundary that we own: sessions are tokens, sent as a bearer or as
 * the session cookie. The server's own session cache is in front, so that revocation behaves as with the real service.
 */
export function createPeople() {
  const sessions = new Map<string, Someone>()
  const known = new Map<string, Account>()
  const signedIn = new Set<string>()
  const disabled = new Set<string>()
  const withoutOnboarding = new Set<string>()
  const reports: { id: string; event: string; name?: string; count?: number }[] = []
  let count = 0

  const identity = (bus: Bus): Identity => {
    const cache = createSessionCache({ bus, load: async ({ value }) => sessions.get(value) })
    return {
      async session({ cookie, authorization }, { fresh } = {}) {
        const fromCookie = /ory_kratos_session=([^;]+)/.exec(cookie ?? '')?.[1]
        const value = fromCookie ?? /^bearer (.+)$/i.exec(authorization ?? '')?.[1]
        return value ? cache.get(value, { kind: fromCookie ? 'cookie' : 'token', value }, fresh) : undefined
      },
      active: async (id) => (disabled.has(id) ? undefined : known.get(id)),
      people: async (ids) =>
        new Map(
          [...ids].flatMap((id) => {
            const person = known.get(id)
            return person ? [[id, person] as const] : []
          }),
        ),
      lastLogins: async () => new Map(),
    }
  }

  /** The admin API as far as teams need it; tests against the real service cover recovery itself. */
  const accounts: Accounts = {
    find: async (id) => known.get(id),
    findByEmail: async (email) => [...known.values()].find((one) => one.email.toLowerCase() === email.toLowerCase()),
    async create({ email, firstName, lastName }) {
      const existing = await accounts.findByEmail(email)
      if (existing) return existing
      const account = {
        id: randomUUID(),
        name: [firstName, lastName].filter(Boolean).join(' '),
        email,
        verified: true,
      }
      known.set(account.id, account)
      return account
    },
    delete: async (id) => {
      known.delete(id)
      for (const [token, session] of sessions) if (session.id === id) sessions.delete(token)
    },
    hasSignedIn: async (id) => signedIn.has(id),
    issueCode: async (id) => ({ flow: id, code: String(randomInt(100_000, 999_999)) }),
    settleRecovery: async () => undefined,
    undoSignIn: async () => undefined,
    showsOnboarding: async (id) => !withoutOnboarding.has(id),
    saveOnboarding: async (id, shown) => {
      if (shown) withoutOnboarding.delete(id)
      else withoutOnboarding.add(id)
    },
    reportSecurity: async (id, report) => {
      reports.push({ id, ...report.what })
      return 'done'
    },
  }

  return {
    identity,
    accounts,
    /** The reports about people's API tokens. */
    reports,
    signUp(name = `Person ${++count}`, options: SignIn = {}): Someone {
      const person = {
        id: randomUUID(),
        name,
        email: `${name.toLowerCase().replace(/\W+/g, '.')}.${count}@example.com`,
      }
      known.set(person.id, { ...person, verified: true })
      return this.signIn(person, options)
    },
    /** Creates another session of the same person. */
    signIn(
      person: Person,
      { expiresInMs = 3_600_000, aal = 'aal1', recovered = false, authenticatedAt = new Date() }: SignIn = {},
    ): Someone {
      const someone: Someone = {
        kind: 'user',
        id: person.id,
        name: person.name,
        email: person.email,
        sessionId: randomUUID(),
        sessionExpiresAt: new Date(Date.now() + expiresInMs),
        authenticatedAt,
        aal,
        recovered,
        token: `ory_st_${randomBytes(24).toString('base64url')}`,
      }
      sessions.set(someone.token, someone)
      signedIn.add(person.id)
      return someone
    },
    /** Disables the account; `forget` ends its sessions. */
    disable: (person: Person) => void disabled.add(person.id),
    /** Records that the person has signed in again in this session. */
    confirm: (someone: Someone) => void sessions.set(someone.token, { ...someone, authenticatedAt: new Date() }),
    /** Records that the session has used a second factor. */
    raise: (someone: Someone) => void sessions.set(someone.token, { ...someone, aal: 'aal2' }),
    /** Sets whether the person's address is verified. */
    verify(person: Person, verified: boolean) {
      known.set(person.id, { id: person.id, name: person.name, email: person.email, verified })
    },
    /** Ends the session; `notify` informs the servers at once. */
    forget: (someone: Someone) => void sessions.delete(someone.token),
  }
}
