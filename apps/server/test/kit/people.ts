import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Bus } from '../../src/bus/bus.ts'
import type { Account, Accounts } from '../../src/identity/accounts.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { createSessionCache } from '../../src/identity/session-cache.ts'
import type { SessionActor, User } from '../../src/identity/user.ts'

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
            const user = known.get(id)
            return user ? [[id, user] as const] : []
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
    signUp(name = `User ${++count}`, options: SignIn = {}): Someone {
      const user = {
        id: randomUUID(),
        name,
        email: `${name.toLowerCase().replace(/\W+/g, '.')}.${count}@example.com`,
      }
      known.set(user.id, { ...user, verified: true })
      return this.signIn(user, options)
    },
    /** Creates another session of the same user. */
    signIn(
      user: User,
      { expiresInMs = 3_600_000, aal = 'aal1', recovered = false, authenticatedAt = new Date() }: SignIn = {},
    ): Someone {
      const someone: Someone = {
        kind: 'user',
        id: user.id,
        name: user.name,
        email: user.email,
        sessionId: randomUUID(),
        sessionExpiresAt: new Date(Date.now() + expiresInMs),
        authenticatedAt,
        aal,
        recovered,
        token: `ory_st_${randomBytes(24).toString('base64url')}`,
      }
      sessions.set(someone.token, someone)
      signedIn.add(user.id)
      return someone
    },
    /** Disables the account; `forget` ends its sessions. */
    disable: (user: User) => void disabled.add(user.id),
    /** Records that the user has signed in again in this session. */
    confirm: (someone: Someone) => void sessions.set(someone.token, { ...someone, authenticatedAt: new Date() }),
    /** Records that the session has used a second factor. */
    raise: (someone: Someone) => void sessions.set(someone.token, { ...someone, aal: 'aal2' }),
    /** Sets whether the user's address is verified. */
    verify(user: User, verified: boolean) {
      known.set(user.id, { id: user.id, name: user.name, email: user.email, verified })
    },
    /** Ends the session; `notify` informs the servers at once. */
    forget: (someone: Someone) => void sessions.delete(someone.token),
  }
}
