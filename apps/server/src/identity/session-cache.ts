import type { Bus } from '../bus/index.ts'
import type { Credential, SessionActor } from './person.ts'

/** How long a session may be cached, which limits how long a revoked one can still be used. */
const ttlMs = 2_000
/** Longer than any request to the identity service may take. */
const endedMs = 15_000
const entriesMax = 10_000

type Entry = { at: number; actor: Promise<SessionActor | undefined> }

/**
 * Caches valid sessions for 2 s and drops them when the bus reports their end. A result that was requested before its
 * session ended does not count.
 */
export function createSessionCache(options: {
  load: (credential: Credential) => Promise<SessionActor | undefined>
  bus: Bus
}) {
  const entries = new Map<string, Entry>()
  const keysOfSession = new Map<string, Set<string>>()
  const ended = new Map<string, number>()

  options.bus.on('session.ended', ({ sessionId }) => {
    const now = Date.now()
    for (const [id, at] of ended) if (now - at > endedMs) ended.delete(id)
    ended.set(sessionId, now)
    for (const key of keysOfSession.get(sessionId) ?? []) entries.delete(key)
    keysOfSession.delete(sessionId)
  })
  options.bus.on('person.changed', ({ sessionId }) => {
    for (const key of keysOfSession.get(sessionId) ?? []) entries.delete(key)
  })
  // Ends may have been missed while the listening connection was interrupted.
  options.bus.onReconnected(() => {
    entries.clear()
    keysOfSession.clear()
  })

  function remember(key: string, actor: SessionActor) {
    const keys = keysOfSession.get(actor.sessionId) ?? new Set()
    keysOfSession.set(actor.sessionId, keys.add(key))
  }

  function drop(key: string, entry: Entry) {
    if (entries.get(key) === entry) entries.delete(key)
  }

  async function load(key: string, credential: Credential): Promise<SessionActor | undefined> {
    const actor = await options.load(credential)
    if (!actor || ended.has(actor.sessionId)) return undefined
    remember(key, actor)
    return actor
  }

  return {
    /** @param fresh asks again, whatever is cached */
    async get(key: string, credential: Credential, fresh = false): Promise<SessionActor | undefined> {
      const now = Date.now()
      const known = fresh ? undefined : entries.get(key)
      if (known && now - known.at < ttlMs) return valid(await known.actor)
      if (entries.size >= entriesMax) {
        entries.clear()
        keysOfSession.clear()
      }
      const entry: Entry = { at: now, actor: load(key, credential) }
      entries.set(key, entry)
      try {
        const actor = await entry.actor
        // A missing session is not cached, so that a sign-in counts at once.
        if (!actor) drop(key, entry)
        return valid(actor)
      } catch (error) {
        drop(key, entry)
        throw error
      }
    },
  }
}

const valid = (actor: SessionActor | undefined) =>
  actor && actor.sessionExpiresAt.getTime() > Date.now() ? actor : undefined
