import { create } from '@bufbuild/protobuf'
import { timestampNow } from '@bufbuild/protobuf/wkt'
import { type Container, ContainerSchema, ContainerState } from '@crux/agent-protocol'
import { guarded, inBackground } from '@crux/service-kit'
import { guardedTimer } from '../concurrency/pause.ts'
import type { ContainerView, EngineEvent } from '../engines/engine.ts'
import { isSameContainer } from '../engines/is-same-container.ts'
import { label } from '../engines/labels.ts'
import { isEngineError } from '../errors.ts'

/** This many failures in a row end the watch, because it would never succeed. An unavailable engine does not count. */
const failedReadsMax = 6
const retryMs = 50
const retryMsMax = 1_000

export interface ContainerUpdate {
  full: boolean
  containers: Container[]
}

interface WatchOptions {
  prefix: string | undefined
  signal: AbortSignal
}

/**
 * The containers of a node (or a prefix): first all of them, then those that change, until the signal aborts.
 *
 * The data of an event is sent at once, since an engine may hold a container locked for a while after its end; data that needs an
 * inspection follows. Changes that accumulate while a message is being sent are sent in the next message, the latest state of each
 * container. After missed events everything is listed again and only differences are sent.
 */
export function watchContainers(engine: ContainerView, options: WatchOptions): AsyncGenerator<ContainerUpdate> {
  return new ContainerWatch(engine, options).updates()
}

class ContainerWatch {
  readonly #engine: ContainerView
  readonly #options: WatchOptions
  readonly #known = new Map<string, Container>()
  /** Changes that were not sent yet. */
  readonly #pending = new Map<string, Container>()
  /** Containers that must be inspected again. */
  readonly #dirty = new Set<string>()
  #isListed = false
  #mustList = true
  #isReading = false
  #failedReads = 0
  #retry: NodeJS.Timeout | undefined
  #failure: { error: unknown } | undefined
  #wake: () => void = () => undefined

  constructor(engine: ContainerView, options: WatchOptions) {
    this.#engine = engine
    this.#options = options
  }

  async *updates(): AsyncGenerator<ContainerUpdate> {
    const { signal } = this.#options
    const unsubscribe = this.#engine.subscribe((event) => this.#hear(event))
    const stop = guarded('watching containers', () => this.#wake())
    signal.addEventListener('abort', stop)
    try {
      inBackground('watching containers', () => this.#read())
      let isFirst = true
      while (!signal.aborted) {
        if (this.#failure) throw this.#failure.error
        if (this.#isListed && (isFirst || this.#pending.size > 0)) {
          const containers = [...(isFirst ? this.#known : this.#pending).values()]
          this.#pending.clear()
          yield { full: isFirst, containers }
          isFirst = false
          continue
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
          if (signal.aborted || this.#failure || (this.#isListed && this.#pending.size > 0)) resolve()
        })
      }
    } finally {
      clearTimeout(this.#retry)
      signal.removeEventListener('abort', stop)
      unsubscribe()
    }
  }

  #hear(event: EngineEvent): void {
    const { prefix } = this.#options
    if (event.kind === 'relist') this.#mustList = true
    else if (prefix === undefined || event.labels[label.prefix] === prefix || this.#known.has(event.id)) {
      const before = this.#known.get(event.id)
      const changed = before && patch(before, event)
      if (changed !== undefined) this.#change(event.id, changed === 'removed' ? undefined : changed)
      if (changed !== 'removed') this.#dirty.add(event.id)
      this.#wake()
    }
    inBackground('watching containers', () => this.#read())
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    clearTimeout(this.#retry)
    try {
      while (!this.#options.signal.aborted && (this.#mustList || this.#dirty.size > 0)) {
        await (this.#mustList ? this.#readAll() : this.#readDirty())
        this.#failedReads = 0
        this.#wake()
      }
    } catch (error) {
      // An answer may be cut off, or a container be partly removed: everything is listed again.
      this.#mustList = true
      this.#failedReads += 1
      const waitMs = Math.min(retryMsMax, retryMs * 2 ** this.#failedReads)
      if (isEngineError(error, 'unavailable') || this.#failedReads < failedReadsMax)
        this.#retry = guardedTimer('watching containers', waitMs, () => this.#read())
      else this.#failure = { error }
    } finally {
      this.#isReading = false
      this.#wake()
    }
  }

  async #readAll(): Promise<void> {
    const { prefix } = this.#options
    this.#mustList = false
    this.#dirty.clear()
    const all = await this.#engine.list(prefix === undefined ? {} : { prefix })
    const ids = new Set(all.map(({ engineId }) => engineId))
    for (const id of [...this.#known.keys()]) if (!ids.has(id)) this.#change(id, undefined)
    for (const container of all) this.#change(container.engineId, container)
    this.#isListed = true
  }

  async #readDirty(): Promise<void> {
    const ids = [...this.#dirty]
    this.#dirty.clear()
    const seen = new Map((await this.#engine.view(ids)).map((container) => [container.engineId, container]))
    // A container with another event in the meantime may have been inspected too early, so it is inspected again.
    for (const id of ids) if (!this.#dirty.has(id)) this.#change(id, seen.get(id))
  }

  #change(id: string, now: Container | undefined): void {
    const before = this.#known.get(id)
    if (now && before && isSameContainer(now, before)) return
    if (!now && !before) return
    if (now) this.#known.set(id, now)
    else this.#known.delete(id)
    const gone = before && { ...before, state: ContainerState.REMOVED, engineState: 'removed', reason: 'Removed' }
    if (now ?? gone) this.#pending.set(id, create(ContainerSchema, now ?? gone))
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
