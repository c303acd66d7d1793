import { createTtlCache, loadShared } from '@crux/service-kit'
import type { Bus } from '../bus/index.ts'
import type { ActivePerson } from './person.ts'
import { sessionTtlMs } from './session-cache.ts'

/**
 * The people whose account exists and is not disabled, for tokens that outlive sessions. Our identity service reports
 * changes over the bus; results of another one are cached for 2 s at most.
 */
export function createActivePeople(options: { load: (id: string) => Promise<ActivePerson | undefined>; bus: Bus }) {
  const known = createTtlCache<string, Promise<ActivePerson | undefined>>({ ttlMs: sessionTtlMs, max: 10_000 })
  options.bus.on('identity.changed', ({ userId }) => known.delete(userId))
  options.bus.on('person.changed', ({ userId }) => known.delete(userId))
  options.bus.onReconnected(known.clear)

  return { get: (id: string) => loadShared(known, id, () => options.load(id)) }
}
