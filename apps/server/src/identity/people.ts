import { createTtlCache, isUuid, type Logger, loadMany } from '@crux/service-kit'
import type { User } from './user.ts'

const idsPerCall = 100

/**
 * Names of people by id: requested in batches, cached for 30 s, and served from the cache while the identity service is
 * unavailable.
 */
export function createPeopleCache(options: { load: (ids: string[]) => Promise<User[]>; log: Logger }) {
  const known = createTtlCache<string, User | null>({ ttlMs: 30_000, max: 20_000 })

  async function read(ids: string[], report: (id: string, user: User | null) => void): Promise<void> {
    const batches = Array.from({ length: Math.ceil(ids.length / idsPerCall) }, (_, index) =>
      ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
    )
    await Promise.all(
      batches.map(async (batch) => {
        const found = new Map((await options.load(batch)).map((user) => [user.id, user]))
        for (const id of batch) report(id, found.get(id) ?? null)
      }),
    )
  }

  return {
    learn: (user: User) => known.set(user.id, user),
    forget: (id: string) => known.delete(id),
    // Rows may name "system"; the identity service would refuse the whole batch.
    get: (ids: Iterable<string>): Promise<Map<string, User>> =>
      loadMany(known, [...new Set(ids)].filter(isUuid), read, (err) =>
        options.log.warn({ err }, 'the names of users could not be read'),
      ),
  }
}
