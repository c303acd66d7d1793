import { randomBytes, randomUUID } from 'node:crypto'
import type { Bus } from '../../src/bus/bus.ts'
import type { SessionActor } from '../../src/http/handlers.ts'
import type { Identity, Person } from '../../src/identity/identity.ts'
import { createSessionCache } from '../../src/identity/session-cache.ts'

type SignIn = { expiresInMs?: number; aal?: SessionActor['aal']; recovered?: boolean }
/** Somebody signed in: an actor with the token of the session. */
export type Someone = SessionActor & { token: string }

/**
 * People without an identity service, at the boundary that we own: sessions are tokens, sent as a bearer or as the session cookie.
 * The server's own session cache stands before it, so that revocation behaves as it does with the real service.
 */
export function createPeople() {
  const sessions = new Map<string, Someone>()
  const known = new Map<string, Person>()
  let count = 0

  const identity = (bus: Bus): Identity => {
    const cache = createSessionCache({ bus, load: async ({ value }) => sessions.get(value) })
    return {
      async session({ cookie, authorization }, { fresh } = {}) {
        const fromCookie = /ory_kratos_session=([^;]+)/.exec(cookie ?? '')?.[1]
        const value = fromCookie ?? /^bearer (.+)$/i.exec(authorization ?? '')?.[1]
        return value ? cache.get(value, { kind: fromCookie ? 'cookie' : 'token', value }, fresh) : undefined
      },
      people: async (ids) =>
        new Map(
          [...ids].flatMap((id) => {
            const person = known.get(id)
            return person ? [[id, person] as const] : []
          }),
        ),
    }
  }

  return {
    identity,
    signUp(name = `Person ${++count}`, options: SignIn = {}): Someone {
      const person = {
        id: randomUUID(),
        name,
        email: `${name.toLowerCase().replace(/\W+/g, '.')}.${count}@example.com`,
      }
      known.set(person.id, person)
      return this.signIn(person, options)
    },
    /** Another session of the same person. */
    signIn(person: Person, { expiresInMs = 3_600_000, aal = 'aal1', recovered = false }: SignIn = {}): Someone {
      const someone: Someone = {
        kind: 'user',
        id: person.id,
        name: person.name,
        email: person.email,
        sessionId: randomUUID(),
        sessionExpiresAt: new Date(Date.now() + expiresInMs),
        aal,
        recovered,
        token: `ory_st_${randomBytes(24).toString('base64url')}`,
      }
      sessions.set(someone.token, someone)
      return someone
    },
    /** Ends the session; whoever must hear of it at once is told by `notify`. */
    forget: (someone: Someone) => void sessions.delete(someone.token),
  }
}
