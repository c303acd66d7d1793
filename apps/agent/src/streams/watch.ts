import { create } from '@bufbuild/protobuf'
import { timestampNow } from '@bufbuild/protobuf/wkt'
import { type Container, ContainerSchema, ContainerState } from '@crux/agent-protocol'
import { guarded, inBackground } from '@crux/service-kit'
import type { ContainerView, EngineEvent } from '../engines/engine.ts'
import { label } from '../engines/labels.ts'
import { isEngineError } from '../errors/engine-error.ts'

/** This many failures in a row end the watch, because it would never succeed. An unavailable engine does not count. */
const failedLooksMax = 6
const retryMs = 50
const retryMsMax = 1_000

export interface ContainerUpdate {
  full: boolean
  containers: Container[]
}

/**
 * The containers of a node (or a prefix): first all of them, then those that change, until the signal aborts.
 *
 * The data of an event is sent at once, since an engine may hold a container locked for a while after its end; data that needs an
 * inspection follows. Changes that accumulate while a message is being sent are sent in the next message, the latest state of each
 * container. After missed events everything is listed again and only differences are sent.
 */
export async function* watchContainers(
  engine: ContainerView,
  options: { prefix: string | undefined; signal: AbortSignal },
): AsyncGenerator<ContainerUpdate> {
  const { prefix, signal } = options
  const known = new Map<string, Container>()
  const pending = new Map<string, Container>()
  const dirty = new Set<string>()
  let listed = false
  let relist = true
  let looking = false
  let failedLooks = 0
  let retry: NodeJS.Timeout | undefined
  let failure: { error: unknown } | undefined
  let wake: () => void = () => undefined

  const change = (id: string, now: Container | undefined) => {
    const before = known.get(id)
    if (now && before && fingerprint(now) === fingerprint(before)) return
    if (!now && !before) return
    if (now) known.set(id, now)
    else known.delete(id)
    const gone = before && { ...before, state: ContainerState.REMOVED, engineState: 'removed', reason: 'Removed' }
    if (now ?? gone) pending.set(id, create(ContainerSchema, now ?? gone))
  }

  async function lookAtAll(): Promise<void> {
    relist = false
    dirty.clear()
    const all = await engine.list(prefix === undefined ? {} : { prefix })
    const ids = new Set(all.map(({ engineId }) => engineId))
    for (const id of [...known.keys()]) if (!ids.has(id)) change(id, undefined)
    for (const container of all) change(container.engineId, container)
    listed = true
  }

  async function lookAtDirty(): Promise<void> {
    const ids = [...dirty]
    dirty.clear()
    const seen = new Map((await engine.view(ids)).map((container) => [container.engineId, container]))
    // A container with another event in the meantime may have been inspected too early, so it is inspected again.
    for (const id of ids) if (!dirty.has(id)) change(id, seen.get(id))
  }

  async function look(): Promise<void> {
    if (looking) return
    looking = true
    clearTimeout(retry)
    try {
      while (!signal.aborted && (relist || dirty.size > 0)) {
        await (relist ? lookAtAll() : lookAtDirty())
        failedLooks = 0
        wake()
      }
    } catch (error) {
      // An answer may be cut off, or a container be partly removed: everything is listed again.
      relist = true
      failedLooks += 1
      if (isEngineError(error, 'away') || failedLooks < failedLooksMax)
        retry = setTimeout(guarded('watching containers', look), Math.min(retryMsMax, retryMs * 2 ** failedLooks))
      else failure = { error }
    } finally {
      looking = false
      wake()
    }
  }

  const unsubscribe = engine.subscribe((event) => {
    if (event.kind === 'relist') relist = true
    else if (prefix === undefined || event.labels[label.prefix] === prefix || known.has(event.id)) {
      const before = known.get(event.id)
      const changed = before && patch(before, event)
      if (changed !== undefined) change(event.id, changed === 'removed' ? undefined : changed)
      if (changed !== 'removed') dirty.add(event.id)
      wake()
    }
    inBackground('watching containers', look)
  })
  const stop = guarded('watching containers', () => wake())
  signal.addEventListener('abort', stop)
  try {
    inBackground('watching containers', look)
    let first = true
    while (!signal.aborted) {
      if (failure) throw failure.error
      if (listed && (first || pending.size > 0)) {
        const containers = first ? [...known.values()] : [...pending.values()]
        pending.clear()
        yield { full: first, containers }
        first = false
        continue
      }
      await new Promise<void>((resolve) => {
        wake = resolve
        if (signal.aborted || failure || (listed && pending.size > 0)) resolve()
      })
    }
  } finally {
    clearTimeout(retry)
    signal.removeEventListener('abort', stop)
    unsubscribe()
  }
}

/** The state of a container as far as an event alone determines it; undefined when only an inspection can. */
function patch(
  before: Container,
  event: Extract<EngineEvent, { kind: 'container' }>,
): Container | 'removed' | undefined {
  switch (event.action) {
    case 'die': {
      const exitCode = Number(event.labels.exitCode ?? 0)
      return create(ContainerSchema, {
        ...before,
        state: ContainerState.EXITED,
        engineState: 'exited',
        exitCode,
        reason: `Exited (${exitCode})`,
        ports: [],
      })
    }
    case 'start':
      return create(ContainerSchema, {
        ...before,
        state: ContainerState.RUNNING,
        engineState: 'running',
        startedAt: timestampNow(),
        exitCode: undefined,
        reason: 'Up Less than a second',
      })
    case 'destroy':
      return 'removed'
    default:
      return undefined
  }
}

function fingerprint(container: Container): string {
  const { ref, state, engineState, reason, exitCode, health, restartCount, startedAt, ports } = container
  const shown = [
    ref?.prefix,
    ref?.name,
    state,
    engineState,
    reason,
    exitCode,
    health,
    restartCount,
    String(startedAt?.seconds),
  ]
  return JSON.stringify([
    ...shown,
    ports.map(({ internal, external, protocol }) => `${internal}:${external}/${protocol}`),
  ])
}
