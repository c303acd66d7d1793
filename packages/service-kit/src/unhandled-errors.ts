import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

/**
 * The one place where errors arrive that no caller can catch: thrown by the callback of a timer, a listener or a stream, or by work that
 * runs in the background. They are counted, logged with the place they come from, and handed to the scope they belong to. They never
 * end the process by themselves.
 */
export interface UnhandledError {
  /** Names the callback, from a fixed set: it is the label of a metric. */
  where: string
  error: unknown
  /** How many errors have come from there in this process. */
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

/** Runs work whose result nobody waits for. */
export function inBackground(where: string, work: () => unknown): void {
  guarded(where, work)()
}

/**
 * Runs work whose unhandled errors concern somebody: also those of the timers, sockets and promises that it creates, however late.
 *
 * @param onError is told in addition to the log, e.g. to fail the job that the work belongs to
 */
export function withErrorScope<T>(onError: (error: unknown) => void, work: () => T): T {
  return scopes.run(onError, work)
}

export function reportUnhandledError(where: string, error: unknown): void {
  const count = (counts.get(where) ?? 0) + 1
  counts.set(where, count)
  // Without a listener there is no log yet, and silence would hide the error.
  if (listeners.size === 0) process.stderr.write(`unhandled error in ${where}: ${textOf(error)}\n`)
  const told: Listener[] = [...listeners, () => scopes.getStore()?.(error)]
  for (const listener of told) {
    try {
      listener({ where, error, count })
    } catch (cause) {
      process.stderr.write(`unhandled error in a listener for errors: ${textOf(cause)}\n`)
    }
  }
}

/** @returns the way to unsubscribe */
export function onUnhandledError(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** An error that repeats is logged this often, then each hundredth time: a flood must not fill the disk. */
const loggedAlways = 10
const kindsMax = 1_000

/**
 * The last resort of a process: logs what `guarded` caught, and catches what no `guarded` did. The process goes on, however often that
 * happens. What lasts is written before it is acted on, and work that waits for the callback has limits of time of its own; an exit would
 * hand any input that throws a way to interrupt everybody else, which is worse than one call that never answers.
 *
 * @returns removes the handlers again
 */
export function handleUnhandledErrors(log: Logger): () => void {
  const seen = new Map<string, number>()
  const unsubscribe = onUnhandledError(({ where, error, count }) => {
    const kind = `${where}: ${error instanceof Error ? error.message : String(error)}`.slice(0, 200)
    const times = (seen.get(kind) ?? 0) + 1
    // Messages may hold anything, so there may be any number of them.
    if (seen.size >= kindsMax) seen.clear()
    seen.set(kind, times)
    if (times <= loggedAlways || times % 100 === 0)
      log.error({ err: error, where, count }, 'an error reached no caller: the process goes on')
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

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
