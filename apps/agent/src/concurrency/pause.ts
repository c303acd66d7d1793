import { setTimeout } from 'node:timers/promises'
import { guarded } from '@crux/service-kit'

/** Resolves after the time; rejects with the signal's reason as soon as it aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())

/** Returns the work's result, but rejects with the signal's reason as soon as it aborts: for work whose end needs no wait. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = guarded('an aborted wait', () => reject(signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The result of the work, or that of `late` when the work takes longer, which it may continue to do. */
export function withinTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(
      guarded('work that takes long', () => resolve(late())),
      ms,
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
