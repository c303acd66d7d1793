import { createTtlCache, isUuid, loadMany } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Identity, User } from '../identity/index.ts'
import { selectAccountNames } from './store.ts'

/**
 * Rows name their author: mostly people, sometimes a service account or a deployment's token, also deleted ones. Only
 * ids that belong to no user's account are looked up here.
 */
export function withAccountNames(identity: Identity, app: Pick<App, 'database' | 'bus' | 'log'>): Identity {
  const known = createTtlCache<string, User | null>({ ttlMs: 30_000, max: 20_000 })
  app.bus.on('member.changed', ({ userId }) => known.delete(userId))

  async function read(ids: string[], report: (id: string, person: User | null) => void) {
    const rows = await selectAccountNames(app.database.pool, ids)
    const found = new Map(rows.map(({ id, name }) => [id, { id, name, email: '' }]))
    for (const id of ids) report(id, found.get(id) ?? null)
  }

  return {
    ...identity,
    async people(ids) {
      const wanted = [...new Set(ids)]
      const people = await identity.people(wanted)
      const others = wanted.filter((id) => !people.has(id) && isUuid(id))
      const named = await loadMany(known, others, read, (err) =>
        app.log.warn({ err }, 'the names of accounts could not be read'),
      )
      for (const [id, person] of named) people.set(id, person)
      return people
    },
  }
}
