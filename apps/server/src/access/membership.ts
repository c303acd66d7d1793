import { createTtlCache, isUuid } from '@crux/service-kit'
import type { App } from '../context.ts'
import { sessionTtlMs } from '../identity/index.ts'
import type { Actor, TeamContext } from './actor.ts'
import { findMembership, type TeamKey } from './store.ts'

/** The team of a request, and the user's role in it. A team without membership and one that does not exist look the same. */
export interface Membership {
  find(actor: Actor, team: TeamKey): Promise<TeamContext | undefined>
}

export function createMembership(app: Pick<App, 'database' | 'bus'>): Membership {
  // Changes arrive over the bus at once.
  const known = createTtlCache<string, TeamContext>({ ttlMs: sessionTtlMs, max: 20_000 })
  app.bus.on('member.changed', known.clear)
  app.bus.on('team.changed', known.clear)
  app.bus.on('tokens.revoked', known.clear)
  app.bus.onReconnected(known.clear)

  return {
    async find({ kind, id }, { by, value }) {
      if (by === 'id' && !isUuid(value)) return undefined
      return known.load(`${id} ${by} ${value}`, () => findMembership(app.database.pool, { kind, id }, { by, value }))
    },
  }
}
