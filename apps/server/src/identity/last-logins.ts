import type { Logger } from '@crux/service-kit'
import { isUuid } from './people.ts'

const ttlMs = 60_000
const callsAtOnce = 8
const entriesMax = 20_000

/**
 * When people last signed in, as ISO text. The API needs one call per person; a few run at once, and results are cached
 * for a minute. After an error the cached value is used, or the person is left out.
 */
export function createLastLogins(options: { load: (id: string) => Promise<string | undefined>; log: Logger }) {
  const known = new Map<string, { at: number; login: string | undefined }>()

  async function refresh(ids: readonly string[]): Promise<void> {
    const waiting = [...ids]
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
        known.set(id, { at: Date.now(), login: await options.load(id) })
    }
    await Promise.all(Array.from({ length: callsAtOnce }, work))
  }

  return async (ids: Iterable<string>): Promise<Map<string, string>> => {
    const wanted = [...new Set(ids)].filter(isUuid)
    const now = Date.now()
    if (known.size > entriesMax) known.clear()
    const stale = wanted.filter((id) => now - (known.get(id)?.at ?? 0) > ttlMs)
    if (stale.length > 0)
      await refresh(stale).catch((err: unknown) => options.log.warn({ err }, 'times of signing in cannot be had now'))
    return new Map(
      wanted.flatMap((id) => {
        const login = known.get(id)?.login
        return login === undefined ? [] : [[id, login] as const]
      }),
    )
  }
}
