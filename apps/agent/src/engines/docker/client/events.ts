import { guarded, inBackground, type Logger } from '@crux/service-kit'
import type Docker from 'dockerode'
import { pause } from '../../../concurrency/pause.ts'
import type { EngineEvent } from '../../engine.ts'
import { translate } from './errors.ts'
import { toLines } from './lines.ts'

/** Actions that change what a list or a deployment sees; exec, attach and similar ones do not. */
const actions = new Set([
  'create',
  'start',
  'die',
  'stop',
  'restart',
  'pause',
  'unpause',
  'rename',
  'destroy',
  'oom',
  'update',
])

/** An engine whose clock is behind ours delays the end of the answer until its own clock is there. */
const catchUpMs = 500
/** The engine takes the time of an event before it records the event, so that a busy one may record it after one of a later time. */
const overlapNanos = 1_000_000_000n

/**
 * Shares one event stream of the engine in this process. When it breaks it is opened again, without a limit, and every subscriber gets
 * `relist`, since events in between are lost.
 *
 * @param onDisconnect called for containers that were disconnected from a network: a start that fails has no other event
 */
export function createEventHub(docker: Docker, log: Logger, onDisconnect: (id: string) => void): EventHub {
  const hub = new EventHub(docker, log, onDisconnect)
  inBackground('the events of the engine', () => hub.run())
  return hub
}

export class EventHub {
  readonly #docker: Docker
  readonly #log: Logger
  readonly #onDisconnect: (id: string) => void
  readonly #listeners = new Set<(event: EngineEvent) => void>()
  readonly #closing = new AbortController()
  #isOpen = false
  /** The engine's time of the last event that arrived, in nanoseconds. */
  #receivedUntil = 0n
  /** The lines of the last events and their times, in the order of their arrival. */
  readonly #received = new Map<string, bigint>()

  constructor(docker: Docker, log: Logger, onDisconnect: (id: string) => void) {
    this.#docker = docker
    this.#log = log
    this.#onDisconnect = onDisconnect
  }

  /** Whether the engine's events arrive; changes that happen while they do not are never reported. */
  get isOpen() {
    return this.#isOpen
  }

  async run(): Promise<void> {
    const { signal } = this.#closing
    let waitMs = 100
    let isUnavailable = false
    while (!signal.aborted) {
      try {
        this.#receivedUntil = BigInt(Date.now()) * 1_000_000n
        const stream = await openEvents(this.#docker, {}, signal)
        if (isUnavailable) this.#log.info('the Docker engine answers again')
        isUnavailable = false
        waitMs = 100
        this.#isOpen = true
        this.emit({ kind: 'relist' })
        for await (const line of toLines(stream)) this.#receive(line)
      } catch (error) {
        if (signal.aborted) return
        const { message: reason } = translate(error, 'report events')
        if (!isUnavailable) this.#log.warn({ reason }, 'the Docker engine is unavailable, trying again')
        isUnavailable = true
      } finally {
        this.#isOpen = false
      }
      await pause(waitMs, signal).catch(() => undefined)
      waitMs = Math.min(2_000, waitMs * 2)
    }
  }

  /** Sends all subscribers an event that the engine does not report. */
  emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  readonly subscribe = (given: (event: EngineEvent) => void): (() => void) => {
    // A listener that fails must neither end the stream of events nor keep events from other listeners.
    const listener = guarded('a listener for events of the engine', given)
    this.#listeners.add(listener)
    if (this.#isOpen)
      queueMicrotask(
        guarded('a listener for events of the engine', () => {
          if (this.#listeners.has(listener)) listener({ kind: 'relist' })
        }),
      )
    return () => this.#listeners.delete(listener)
  }

  /**
   * Asks the engine for the events that it has recorded until now and that the stream has not delivered yet, and sends them to all
   * subscribers. The stream does not deliver them again, unless it is more than a second behind.
   *
   * @throws EngineError also when the answer does not end in time: it may lack events then
   */
  async catchUp(): Promise<void> {
    // One millisecond is added: our times are truncated, the engine's are not.
    const until = BigInt(Date.now() + 1) * 1_000_000n
    const late = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(catchUpMs)])
    try {
      const range = { since: secondsText(this.#receivedUntil - overlapNanos), until: secondsText(until) }
      const stream = await openEvents(this.#docker, range, late)
      for await (const line of toLines(stream)) this.#receive(line)
    } catch (error) {
      throw translate(error, 'report events')
    }
  }

  close(): void {
    this.#closing.abort()
  }

  /** Both the stream and the answers of `catchUp` have every event: what comes first counts. */
  #receive(line: string): void {
    if (this.#received.has(line)) return
    const at = toTime(line)
    if (at > this.#receivedUntil) this.#receivedUntil = at
    this.#received.set(line, at)
    for (const [oldest, time] of this.#received) {
      if (time >= this.#receivedUntil - overlapNanos) break
      this.#received.delete(oldest)
    }
    const event = toEvent(JSON.parse(line))
    if (event?.kind === 'network') this.#onDisconnect(event.id)
    else if (event) this.emit(event)
  }
}

function openEvents(
  docker: Docker,
  range: { since?: string; until?: string },
  abortSignal: AbortSignal,
): Promise<NodeJS.ReadableStream> {
  // The filter excludes other events: each health check causes three, for as long as its container runs.
  const event = [...actions, 'health_status', 'disconnect']
  const options = { filters: { type: ['container', 'network'] as const, event }, ...range, abortSignal }
  // The types of dockerode know times as whole seconds alone; the engine also accepts fractions of them.
  return docker.getEvents(Object.assign<Docker.GetEventsOptions, object>({}, options))
}

type DockerEvent = EngineEvent | { kind: 'network'; id: string }

interface RawEvent {
  Type?: string
  Action?: string
  Actor?: { ID?: string; Attributes?: Record<string, string> }
}

function toEvent({ Type: type, Action: action = '', Actor: actor }: RawEvent): DockerEvent | undefined {
  const { name = '', ...labels } = actor?.Attributes ?? {}
  if (type === 'network') {
    const id = labels.container ?? ''
    // A start begins with `connect` and holds the container locked until its end; a start that fails ends with `disconnect`.
    return action === 'disconnect' && id !== '' ? { kind: 'network', id } : undefined
  }
  const plain = action.split(':')[0] ?? action
  if (!actions.has(plain) && plain !== 'health_status') return undefined
  return { kind: 'container', action, id: actor?.ID ?? '', name, labels }
}

/** A JavaScript number would lose its last digits. */
function toTime(line: string): bigint {
  return BigInt(/"timeNano":(\d+)\}?\s*$/.exec(line)?.[1] ?? 0)
}

function secondsText(nanos: bigint): string {
  return `${nanos / 1_000_000_000n}.${String(nanos % 1_000_000_000n).padStart(9, '0')}`
}
