import type { ContainerRef } from '@crux/agent-protocol'
import type { EngineScope } from '@crux/rules'
import { guarded } from '@crux/service-kit'
import type { ContainerView, LogChunkLine } from '../engines/engine.ts'
import { nameOnEngine } from '../engines/names.ts'
import { isEngineError } from '../errors.ts'
import { findInScope } from '../scope/scope.ts'

const batchLinesMax = 500

type Moment = Pick<LogChunkLine, 'seconds' | 'nanos'>

/**
 * Follows a container's log by its name, also through restarts and replacements: when the log ends, it waits until a container of that name
 * runs and continues after the last line that it delivered. A successor outside of the scope is not read.
 *
 * @throws EngineError `not-found` when there is no such container at the beginning
 */
export async function* followLog(
  engine: ContainerView,
  options: {
    container: Pick<ContainerRef, 'prefix' | 'name'>
    scope: EngineScope
    /** Only this pod of a workload: the log ends with it. */
    pod?: string | undefined
    take: number
    /** Continues after the line of this time; `take` is then ignored. */
    since?: Moment | undefined
    signal: AbortSignal
  },
): AsyncGenerator<LogChunkLine[]> {
  const { container, pod, scope, signal } = options
  const find = async () => (await findInScope(engine, container, scope)).id
  let id: string | undefined = await find()
  let take: number | undefined = options.take
  let last = options.since
  while (!signal.aborted && id !== undefined) {
    const started = nextStart(engine, container, find, signal)
    // Docker ends a followed log when the container ends, even before all of it was read: the rest is read once more.
    for (const follows of [true, false]) {
      const after = last
      const since = after ? { since: { seconds: after.seconds, nanos: after.nanos } } : {}
      try {
        for await (const lines of engine.readLog(id, {
          pod,
          take: after ? undefined : take,
          follow: follows,
          signal,
          ...since,
        })) {
          const fresh = after ? lines.filter((line) => isAfter(line, after)) : lines
          yield* toBatches(fresh)
          last = fresh.at(-1) ?? last
        }
      } catch (error) {
        // A conflict means that the engine is just removing it.
        if (!(['not-found', 'unavailable', 'conflict'] as const).some((kind) => isEngineError(error, kind))) throw error
      }
      if (signal.aborted) break
    }
    take = undefined
    if (signal.aborted || pod !== undefined) {
      started.cancel()
      return
    }
    // Another container may have the name now, also because events were missed.
    const holder = await find().catch(() => undefined)
    if (holder === undefined || holder === id) id = await started.id
    else {
      started.cancel()
      id = holder
    }
  }
}

/**
 * Returns everything that the engine still has of a container's log, once. The engine sends no faster than the caller reads.
 *
 * @throws EngineError `not-found` when there is no such container in the scope
 */
export async function* wholeLog(
  engine: ContainerView,
  options: {
    container: Pick<ContainerRef, 'prefix' | 'name'>
    scope: EngineScope
    pod?: string | undefined
    signal: AbortSignal
  },
): AsyncGenerator<LogChunkLine[]> {
  const { container, pod, scope, signal } = options
  const { id } = await findInScope(engine, container, scope)
  for await (const lines of engine.readLog(id, { pod, take: undefined, follow: false, signal })) yield* toBatches(lines)
}

function* toBatches(lines: LogChunkLine[]): Generator<LogChunkLine[]> {
  for (let at = 0; at < lines.length; at += batchLinesMax) yield lines.slice(at, at + batchLinesMax)
}

/** Docker writes each line with its own nanosecond; a line with an equal time was already delivered. */
function isAfter(line: Moment, mark: Moment): boolean {
  return line.seconds > mark.seconds || (line.seconds === mark.seconds && line.nanos > mark.nanos)
}

/** Engine id of the next container of that name that starts; listens from the moment of the call, so no start is missed. */
function nextStart(
  engine: ContainerView,
  container: Pick<ContainerRef, 'prefix' | 'name'>,
  find: () => Promise<string>,
  signal: AbortSignal,
): { id: Promise<string | undefined>; cancel: () => void } {
  const full = nameOnEngine(container)
  let cancel: () => void = () => undefined
  const id = new Promise<string | undefined>((resolve) => {
    const done = (found: string | undefined) => {
      unsubscribe()
      signal.removeEventListener('abort', cancel)
      resolve(found)
    }
    let first = true
    const unsubscribe = engine.subscribe((event) => {
      if (event.kind === 'container') {
        // A container that was started under another name gets this one by a rename.
        if (event.name !== full || (event.action !== 'start' && event.action !== 'rename')) return
      } else if (first) {
        first = false
        return
      }
      // The labels decide, not the name: every user of the engine may start a container of that name.
      find().then(done, () => undefined)
    })
    const stop = guarded('following a log', () => done(undefined))
    cancel = stop
    signal.addEventListener('abort', stop, { once: true })
  })
  return { id, cancel: () => cancel() }
}
