import type { App } from '../context.ts'
import type { Identity, Person } from '../identity/index.ts'

const ttlMs = 30_000
const entriesMax = 20_000
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Rows name their author: mostly people, sometimes a service account or a deployment's token, also deleted ones. Only
 * ids that belong to no person's account are looked up here.
 */
export function withAccountNames(identity: Identity, app: Pick<App, 'database' | 'bus' | 'log'>): Identity {
  const known = new Map<string, { at: number; person: Person | undefined }>()
  app.bus.on('member.changed', ({ userId }) => known.delete(userId))

  async function refresh(ids: string[]) {
    const { rows } = await app.database.pool.query<{ id: string; name: string }>({
      name: 'names of accounts',
      text: `select id, name from crux.service_account where id = any($1::uuid[])
        union all select id, name from crux.access_token where id = any($1::uuid[]) and deployment_id is not null`,
      values: [ids],
    })
    const found = new Map(rows.map(({ id, name }) => [id, { id, name, email: '' }]))
    if (known.size > entriesMax) known.clear()
    for (const id of ids) known.set(id, { at: Date.now(), person: found.get(id) })
  }

  return {
    ...identity,
    async people(ids) {
      const wanted = [...new Set(ids)]
      const people = await identity.people(wanted)
      const others = wanted.filter((id) => !people.has(id) && uuid.test(id))
      if (others.length === 0) return people
      const stale = others.filter((id) => Date.now() - (known.get(id)?.at ?? 0) > ttlMs)
      if (stale.length > 0)
        await refresh(stale).catch((err: unknown) => app.log.warn({ err }, 'names of accounts cannot be had now'))
      for (const id of others) {
        const person = known.get(id)?.person
        if (person) people.set(id, person)
      }
      return people
    },
  }
}
