import { guarded } from '@crux/service-kit'

/** Resolves after the time; rejects with the signal's reason as soon as it aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = guarded('the end of a pause', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
    const timer = setTimeout(
      guarded('the end of a pause', () => {
        signal.removeEventListener('abort', stop)
        resolve()
      }),
      ms,
    )
    signal.addEventListener('abort', stop, { once: true })
  })
}
