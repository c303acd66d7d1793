import { createTtlCache } from '@crux/service-kit'
import type { Bus } from '../bus/index.ts'
import type { Credential, SessionActor } from './user.ts'

/** How long a session, or what depends on it, may be cached, which limits how long a revoked one can still be used. */
export const sessionTtlMs = 2_000
/** Longer than any request to the identity service may take. */
const endedMs = 15_000
const entriesMax = 10_000

/** The id of the session is known once the identity service has answered. */
type Entry = { actor: Promise<SessionActor | undefined>; sessionId?: string }

/**
 * Caches valid sessions for 2 s and drops them when the bus reports their end. A result that was requested before its
 * session ended does not count.
 */
export function createSessionCache(options: {
  load: (credential: Credential) => Promise<SessionActor | undefined>
  bus: Bus
}) {
  const entries = createTtlCache<string, Entry>({ ttlMs: sessionTtlMs, max: entriesMax })
  const ended = createTtlCache<string, true>({ ttlMs: endedMs, max: entriesMax })
  const forget = (sessionId: string) => entries.deleteWhere((entry) => entry.sessionId === sessionId)

  options.bus.on('session.ended', ({ sessionId }) => {
    ended.set(sessionId, true)
    forget(sessionId)
  })
  options.bus.on('user.changed', ({ sessionId }) => forget(sessionId))
  // Ends may have been missed while the listening connection was interrupted.
  options.bus.onReconnected(entries.clear)

  function start(key: string, credential: Credential): Entry {
    const entry: Entry = {
      actor: options.load(credential).then(
        (actor) => {
          if (actor && !ended.get(actor.sessionId)) {
            entry.sessionId = actor.sessionId
            return actor
          }
          // A missing session is not cached, so that a sign-in counts at once.
          drop()
          return undefined
        },
        (error: unknown) => {
          drop()
          throw error
        },
      ),
    }
    const drop = () => {
      if (entries.peek(key) === entry) entries.delete(key)
    }
    entries.set(key, entry)
    return entry
  }

  return {
    /** @param fresh asks again, whatever is cached */
    async get(key: string, credential: Credential, fresh = false): Promise<SessionActor | undefined> {
      const known = fresh ? undefined : entries.get(key)
      return valid(await (known ?? start(key, credential)).actor)
    },
  }
}

const valid = (actor: SessionActor | undefined) =>
  actor && actor.sessionExpiresAt.getTime() > Date.now() ? actor : undefined
