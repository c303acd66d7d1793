import { setTimeout } from 'node:timers/promises'

/** The result of the work, or that of `late` when the work takes longer, which it may continue to do. */
export async function withinTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  const done = new AbortController()
  try {
    return await Promise.race([work, setTimeout(ms, undefined, { signal: done.signal }).then(late)])
  } finally {
    done.abort()
  }
}
