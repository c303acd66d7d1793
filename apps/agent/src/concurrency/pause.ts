import { setTimeout as delay } from 'node:timers/promises'
import { guarded } from '@crux/service-kit'

/** Resolves after the time; rejects with the signal's reason as soon as it aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted())

/** Calls back once after the time, unless it is cleared before; an error of the callback does not leave it. */
export const guardedTimer = (where: string, ms: number, callback: () => unknown): NodeJS.Timeout =>
  setTimeout(guarded(where, callback), ms)

/** Returns the work's result, but rejects with the signal's reason as soon as it aborts: for work whose end needs no wait. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = guarded('an aborted wait', () => reject(signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
