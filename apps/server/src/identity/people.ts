import type { Logger } from '@crux/service-kit'
import type { Person } from './person.ts'

const ttlMs = 30_000
const idsPerCall = 100
const entriesMax = 20_000

/**
 * Names of people by id: requested in batches, cached for 30 s, and served from the cache while the identity service is
 * unavailable.
 */
export function createPeopleCache(options: { load: (ids: string[]) => Promise<Person[]>; log: Logger }) {
  const known = new Map<string, { at: number; person: Person | undefined }>()

  async function refresh(ids: string[]): Promise<void> {
    const batches = Array.from({ length: Math.ceil(ids.length / idsPerCall) }, (_, index) =>
      ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
    )
    await Promise.all(
      batches.map(async (batch) => {
        const found = new Map((await options.load(batch)).map((person) => [person.id, person]))
        for (const id of batch) known.set(id, { at: Date.now(), person: found.get(id) })
      }),
    )
  }

  return {
    learn(person: Person) {
      known.set(person.id, { at: Date.now(), person })
    },
    forget: (id: string) => void known.delete(id),
    async get(ids: Iterable<string>): Promise<Map<string, Person>> {
      const wanted = [...new Set(ids)].filter(isUuid)
      const now = Date.now()
      if (known.size > entriesMax) known.clear()
      const stale = wanted.filter((id) => now - (known.get(id)?.at ?? 0) > ttlMs)
      if (stale.length > 0)
        await refresh(stale).catch((err: unknown) => options.log.warn({ err }, 'names of people cannot be had now'))
      return new Map(
        wanted.flatMap((id) => {
          const person = known.get(id)?.person
          return person ? [[id, person] as const] : []
        }),
      )
    },
  }
}

/** Rows may name "system"; the identity service would refuse the whole batch. */
export const isUuid = (id: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)
