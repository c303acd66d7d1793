import { createTtlCache, isUuid, type Logger, loadMany } from '@crux/service-kit'

const callsAtOnce = 8

/**
 * When people last signed in, as ISO text. The API needs one call per person; a few run at once, and results are cached
 * for a minute. After an error the cached value is used, or the user is left out.
 */
export function createLastLogins(options: { load: (id: string) => Promise<string | undefined>; log: Logger }) {
  const known = createTtlCache<string, string | null>({ ttlMs: 60_000, max: 20_000 })

  async function read(ids: string[], report: (id: string, login: string | null) => void): Promise<void> {
    const waiting = [...ids]
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
        report(id, (await options.load(id)) ?? null)
    }
    await Promise.all(Array.from({ length: callsAtOnce }, work))
  }

  return (ids: Iterable<string>): Promise<Map<string, string>> =>
    loadMany(known, [...new Set(ids)].filter(isUuid), read, (err) =>
      options.log.warn({ err }, 'the times of sign-ins could not be read'),
    )
}
