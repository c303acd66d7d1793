import type { Bus } from '../bus/index.ts'
import type { ActivePerson } from './person.ts'

/** As long as a session may be cached. */
const ttlMs = 2_000
const entriesMax = 10_000

/**
 * The people whose account exists and is not disabled, for tokens that outlive sessions. Our identity service reports
 * changes over the bus; results of another one are cached for 2 s at most.
 */
export function createActivePeople(options: { load: (id: string) => Promise<ActivePerson | undefined>; bus: Bus }) {
  const known = new Map<string, { at: number; person: Promise<ActivePerson | undefined> }>()
  options.bus.on('identity.changed', ({ userId }) => known.delete(userId))
  options.bus.on('person.changed', ({ userId }) => known.delete(userId))
  options.bus.onReconnected(() => known.clear())

  return {
    async get(id: string): Promise<ActivePerson | undefined> {
      const entry = known.get(id)
      if (entry && Date.now() - entry.at < ttlMs) return entry.person
      if (known.size >= entriesMax) known.clear()
      const asked = { at: Date.now(), person: options.load(id) }
      known.set(id, asked)
      try {
        return await asked.person
      } catch (error) {
        if (known.get(id) === asked) known.delete(id)
        throw error
      }
    },
  }
}
