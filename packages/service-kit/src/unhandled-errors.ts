import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

/**
 * The central handling of errors that no caller can catch: those of callbacks of timers, listeners and streams, and of background work. They are
 * counted, logged with their location, and passed to the scope that they belong to. They do not end the process by themselves.
 */
export interface UnhandledError {
  /** The location of the callback, from a fixed set, because it is the label of a metric. */
  where: string
  error: unknown
  /** The number of errors from this location in this process. */
  count: number
}

type Listener = (unhandled: UnhandledError) => void

const counts = new Map<string, number>()
const listeners = new Set<Listener>()
const scopes = new AsyncLocalStorage<(error: unknown) => void>()

/** Wraps the callback of a timer, a listener or a stream, so that neither an exception nor a rejection leaves it. */
export function guarded<A extends unknown[]>(where: string, callback: (...args: A) => unknown): (...args: A) => void {
  return (...args) => {
    try {
      const result = callback(...args)
      if (result instanceof Promise) result.catch((error: unknown) => reportUnhandledError(where, error))
    } catch (error) {
      reportUnhandledError(where, error)
    }
  }
}

/** Runs work whose result no caller awaits. */
export function inBackground(where: string, work: () => unknown): void {
  guarded(where, work)()
}

/**
 * Runs work with a handler for its unhandled errors, including those of the timers, sockets and promises that it creates.
 *
 * @param onError is called in addition to the log, e.g. to fail the job that the work belongs to
 */
export function withErrorScope<T>(onError: (error: unknown) => void, work: () => T): T {
  return scopes.run(onError, work)
}

export function reportUnhandledError(where: string, error: unknown): void {
  const count = (counts.get(where) ?? 0) + 1
  counts.set(where, count)
  // Without a listener there is no log yet, and the error would be lost.
  if (listeners.size === 0) process.stderr.write(`unhandled error in ${where}: ${getText(error)}\n`)
  const notified: Listener[] = [...listeners, () => scopes.getStore()?.(error)]
  for (const listener of notified) {
    try {
      listener({ where, error, count })
    } catch (cause) {
      process.stderr.write(`unhandled error in a listener for errors: ${getText(cause)}\n`)
    }
  }
}

/** @returns the function that unsubscribes */
export function onUnhandledError(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** How often a repeated error is logged before only each hundredth one is, so that a flood does not fill the disk. */
const loggedAlways = 10
const kindsMax = 1_000

/**
 * The global handler of a process: logs errors that `guarded` caught, and catches all others. The process continues after any number of errors.
 * Durable changes are written before they take effect, and work that waits for the callback has timeouts of its own. An exit would let any input that
 * throws interrupt all users, which is worse than one call that never answers.
 *
 * @returns removes the handlers again
 */
export function handleUnhandledErrors(log: Logger): () => void {
  const seen = new Map<string, number>()
  const unsubscribe = onUnhandledError(({ where, error, count }) => {
    const kind = `${where}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 200)
    const times = (seen.get(kind) ?? 0) + 1
    // Messages may contain anything, so their number is unlimited.
    if (seen.size >= kindsMax) seen.clear()
    seen.set(kind, times)
    if (times <= loggedAlways || times % 100 === 0)
      log.error({ err: error, where, count }, 'unhandled error: the process continues')
  })
  const onException = (error: unknown) => reportUnhandledError('uncaughtException', error)
  const onRejection = (error: unknown) => reportUnhandledError('unhandledRejection', error)
  process.on('uncaughtException', onException)
  process.on('unhandledRejection', onRejection)
  return () => {
    unsubscribe()
    process.off('uncaughtException', onException)
    process.off('unhandledRejection', onRejection)
  }
}

function getText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
