import { createTtlCache } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type Credentials, sessionTtlMs, type User } from '../identity/index.ts'
import type { Actor } from './actor.ts'
import { type FoundToken, findToken, touchToken } from './store.ts'
import { bearerToken, hashToken } from './token-text.ts'

/** The time of the last use is written once a minute at most. */
const touchMs = 60_000
const entriesMax = 20_000
const endOfTime = new Date(8_640_000_000_000_000)

export interface Authentication {
  /**
   * Authenticates a request by one of our tokens, or by a session. A token in the header takes precedence over the
   * cookie: an invalid token is refused even with a valid cookie.
   *
   * @param options.fresh asks again instead of using a result of up to 2 s ago
   * @throws CruxError serviceUnavailable when the identity service does not answer
   */
  actor(credentials: Credentials, options?: { fresh?: boolean }): Promise<Actor | undefined>
  /** Whether the header has the token of this registry's hook, which is valid for nothing else. */
  isRegistryHook(credentials: Pick<Credentials, 'authorization'>, registryId: string): Promise<boolean>
}

export function createAuthentication(
  app: Pick<App, 'bus' | 'database' | 'identity' | 'log'>,
  options: {
    /** Revokes the API tokens of a user that were created until then. */
    revokeTokens: (userId: string, before: Date) => Promise<unknown>
  },
): Authentication {
  // Revocations arrive over the bus at once.
  const known = createTtlCache<string, FoundToken>({ ttlMs: sessionTtlMs, max: entriesMax })
  const touched = createTtlCache<string, true>({ ttlMs: touchMs, max: entriesMax })
  app.bus.on('tokens.revoked', ({ tokenIds }) => known.deleteWhere((token) => tokenIds.includes(token.id)))
  // The service account may have been renamed or deleted.
  app.bus.on('member.changed', ({ userId }) => known.deleteWhere((token) => token.serviceAccountId === userId))
  app.bus.onReconnected(known.clear)

  const find = (hash: string) => known.load(hash, () => findToken(app.database.pool, hash))

  async function valid({ authorization }: Credentials): Promise<FoundToken | undefined> {
    const text = bearerToken(authorization)
    const token = text && (await find(hashToken(text)))
    return token && (token.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) > Date.now() ? token : undefined
  }

  /** No request waits for the time of the last use to be written, or fails because of it. */
  function touch(id: string) {
    if (touched.get(id)) return
    touched.set(id, true)
    touchToken(app.database.pool, id).catch((err: unknown) =>
      app.log.warn({ err, tokenId: id }, 'the use of a token was not recorded'),
    )
  }

  const revokeLater = revokeAfterRecoveries(app, options.revokeTokens)

  return {
    async actor(credentials, reading) {
      if (!/^bearer\s+crux_/i.test(credentials.authorization ?? '')) {
        const actor = await app.identity.session(credentials, reading)
        if (actor?.recoveredAt) revokeLater(actor.id, actor.recoveredAt)
        return actor
      }
      const token = await valid(credentials)
      if (!token) return undefined
      // Tokens of deleted or disabled accounts are invalid.
      const person = token.userId === null ? undefined : await app.identity.active(token.userId)
      if (token.userId !== null && person?.recoveredAt && token.createdAt <= person.recoveredAt) {
        revokeLater(token.userId, person.recoveredAt)
        return undefined
      }
      const actor = toActor(token, person)
      if (actor) touch(token.id)
      return actor
    },
    async isRegistryHook(credentials, registryId) {
      const token = await valid(credentials)
      if (token?.registryId !== registryId) return false
      touch(token.id)
      return true
    },
  }
}

/**
 * A recovery may be the response to a theft, so that older API tokens of the account are revoked. Ory Kratos does not
 * report recoveries; there the first request of the recovered session counts.
 *
 * @returns the function that revokes them, once per recovery
 */
function revokeAfterRecoveries(
  app: Pick<App, 'bus' | 'identity' | 'log'>,
  revokeTokens: (userId: string, before: Date) => Promise<unknown>,
) {
  const revoked = new Map<string, number>()
  function revokeLater(userId: string, recoveredAt: Date) {
    if (revoked.get(userId) === recoveredAt.getTime()) return
    if (revoked.size >= entriesMax) revoked.clear()
    revoked.set(userId, recoveredAt.getTime())
    revokeTokens(userId, recoveredAt).catch((err: unknown) => {
      revoked.delete(userId)
      app.log.warn({ err, userId }, 'the tokens of a recovered account were not deleted yet')
    })
  }
  app.bus.on('identity.changed', ({ userId }) => {
    app.identity.active(userId).then(
      (person) => person?.recoveredAt && revokeLater(userId, person.recoveredAt),
      (err: unknown) =>
        app.log.warn(
          { err, userId },
          'could not check whether an account was recovered: it is checked again at its next use',
        ),
    )
  })
  return revokeLater
}

function toActor(token: FoundToken, person: User | undefined): Actor | undefined {
  const { id, name, scope, aal, teamId, deploymentId, serviceAccountId, serviceAccountName, createdBy } = token
  const held = { sessionExpiresAt: token.expiresAt ?? endOfTime, grant: { id, scope } }
  if (token.userId !== null) return person && { kind: 'user', ...person, ...held, aal, recovered: false }
  if (teamId === null) return undefined
  if (deploymentId !== null) return { kind: 'deployment-token', id, name, teamId, deploymentId, createdBy, ...held }
  if (serviceAccountId === null || serviceAccountName === null) return undefined
  return { kind: 'service-account', id: serviceAccountId, name: serviceAccountName, teamId, ...held }
}
