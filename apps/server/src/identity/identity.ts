import { CruxError, sessionCookieName } from '@crux/contract'
import { createTtlCache, getField, type Logger, loadShared } from '@crux/service-kit'
import { FrontendApi, IdentityApi, type Identity as KratosIdentity, type Session } from '@ory/kratos-client'
import type { Bus } from '../bus/index.ts'
import { type AdminAddress, adminConfiguration, type PublicAddress, publicConfiguration } from './configuration.ts'
import { createLastLogins } from './last-logins.ts'
import { createPeopleCache } from './people.ts'
import { recoveredAt } from './recovered-session.ts'
import { createSessionCache, sessionTtlMs } from './session-cache.ts'
import type { ActiveUser, Credential, SessionActor, User } from './user.ts'

/** The credentials of a request. */
export type Credentials = { cookie?: string | undefined; authorization?: string | undefined }

/** What the server knows of people. The records themselves belong to the identity service. */
export interface Identity {
  /**
   * Returns the user with a valid session of sufficient assurance; undefined for everyone else.
   * @param options.fresh asks again instead of using a result of up to 2 s ago: used before a refusal that may be
   *   outdated
   * @throws CruxError serviceUnavailable when the identity service does not answer
   */
  session(credentials: Credentials, options?: { fresh?: boolean }): Promise<SessionActor | undefined>
  /**
   * Returns the user of an account that exists and is not disabled.
   * @throws CruxError serviceUnavailable when the identity service does not answer
   */
  active(id: string): Promise<ActiveUser | undefined>
  /**
   * The people of these ids, in few calls; deleted accounts are missing from the map. Never throws: names are shown
   * where they are available.
   */
  people(ids: Iterable<string>): Promise<Map<string, User>>
  /** When people last signed in, as ISO text by id; at most a minute old. Never throws, as above. */
  lastLogins(ids: Iterable<string>): Promise<Map<string, string>>
}

/** Calls the identity service, ours or Ory Kratos, through its own client. */
export function createIdentity(options: AdminAddress & PublicAddress & { bus: Bus; log: Logger }): Identity {
  const frontend = new FrontendApi(publicConfiguration(options))
  const admin = new IdentityApi(adminConfiguration(options))

  async function whoami(credential: Credential): Promise<SessionActor | undefined> {
    try {
      const { data } = await frontend.toSession(
        credential.kind === 'cookie'
          ? { cookie: `${sessionCookieName}=${credential.value}` }
          : { xSessionToken: credential.value },
        { timeout: 5_000, proxy: false },
      )
      return toActor(data, await recoveredAt(admin, data))
    } catch (cause) {
      const status = getField(getField(cause, 'response'), 'status')
      // 403 is a session below the required assurance level, which the product API treats as no session.
      if (status === 401 || status === 403) return undefined
      options.log.warn({ err: cause }, 'the identity service did not answer')
      throw new CruxError('serviceUnavailable', { property: 'kratos', cause })
    }
  }

  async function fetchPeople(ids: string[]): Promise<User[]> {
    const { data } = await admin.listIdentities({ ids, pageSize: ids.length }, { timeout: 5_000, proxy: false })
    return data.map(toUser)
  }

  async function fetchActive(id: string): Promise<ActiveUser | undefined> {
    try {
      const { data, headers } = await admin.getIdentity({ id }, { timeout: 5_000, proxy: false })
      const recovered: unknown = headers['x-crux-recovered-at']
      if (data.state === 'inactive') return undefined
      return { ...toUser(data), ...(typeof recovered === 'string' && { recoveredAt: new Date(recovered) }) }
    } catch (cause) {
      if (getField(getField(cause, 'response'), 'status') === 404) return undefined
      options.log.warn({ err: cause }, 'the identity service did not answer')
      throw new CruxError('serviceUnavailable', { property: 'kratos', cause })
    }
  }

  async function fetchLastLogin(id: string): Promise<string | undefined> {
    const { data } = await admin.listIdentitySessions({ id, pageSize: 25 }, { timeout: 5_000, proxy: false })
    return data
      .flatMap((session) => session.authenticated_at ?? [])
      .sort()
      .at(-1)
  }

  const sessions = createSessionCache({ load: whoami, bus: options.bus })
  const people = createPeopleCache({ load: fetchPeople, log: options.log })
  const lastLogins = createLastLogins({ load: fetchLastLogin, log: options.log })
  // For tokens that outlive sessions. Our identity service reports changes over the bus, another one does not.
  const active = createTtlCache<string, Promise<ActiveUser | undefined>>({ ttlMs: sessionTtlMs, max: 10_000 })
  const forget = ({ userId }: { userId: string }) => {
    people.forget(userId)
    active.delete(userId)
  }
  options.bus.on('user.changed', forget)
  options.bus.on('identity.changed', forget)
  options.bus.onReconnected(active.clear)
  return {
    async session(credentials, { fresh } = {}) {
      const credential = getCredential(credentials)
      const actor = credential && (await sessions.get(`${credential.kind}:${credential.value}`, credential, fresh))
      if (actor) people.learn({ id: actor.id, name: actor.name, email: actor.email })
      return actor
    },
    active: (id) => loadShared(active, id, () => fetchActive(id)),
    people: (ids) => people.get(ids),
    lastLogins,
  }
}

/** The cookie takes precedence over the header, as in the identity service itself. */
function getCredential({ cookie, authorization }: Credentials): Credential | undefined {
  const value = cookieNamed(sessionCookieName, cookie)
  if (value) return { kind: 'cookie', value }
  const token = /^bearer ([\w.~+/=-]{8,4096})$/i.exec(authorization ?? '')?.[1]
  return token ? { kind: 'token', value: token } : undefined
}

function cookieNamed(name: string, header: string | undefined): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim() || undefined
  }
  return undefined
}

function toActor(session: Session, recovered: Date | undefined): SessionActor | undefined {
  if (!session.active || !session.identity) return undefined
  return {
    kind: 'user',
    ...toUser(session.identity),
    sessionId: session.id,
    authenticatedAt: new Date(session.authenticated_at ?? session.issued_at ?? 0),
    sessionExpiresAt: session.expires_at ? new Date(session.expires_at) : new Date(Date.now() + 3_600_000),
    aal: session.authenticator_assurance_level === 'aal2' ? 'aal2' : 'aal1',
    recovered: recovered !== undefined,
    recoveredAt: recovered,
  }
}

/**
 * The identity service has no limit. Ours is needed because names are copied into events and logs and shown in lists.
 */
const nameMax = 200

/** The identity schema allows a missing name; the e-mail address replaces it. */
export function toUser(identity: KratosIdentity): User {
  const { traits } = identity
  const address = getField(traits, 'email')
  const email = typeof address === 'string' ? address : ''
  const names = getField(traits, 'name')
  const name = [getField(names, 'first'), getField(names, 'last')]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ')
  return { id: identity.id, name: (name || email).slice(0, nameMax).toWellFormed(), email }
}
