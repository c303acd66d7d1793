import { guarded, inBackground, type Logger } from '@crux/service-kit'
import type Docker from 'dockerode'
import { pause } from '../../concurrency/pause.ts'
import type { EngineEvent } from '../driver.ts'
import { translate } from './errors.ts'

export interface EventHub {
  subscribe(listener: (event: EngineEvent) => void): () => void
  /** Has everybody hear of something that the engine does not tell. */
  tell(event: EngineEvent): void
  close(): void
}

/** What changes what a list or a deployment sees; exec, attach and the like do not. */
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

/**
 * One event stream of the engine for everybody in this process. When it breaks it is opened again for ever, and every
 * subscriber hears `relist`, since events of the gap are lost.
 */
export function createEventHub(docker: Docker, log: Logger): EventHub {
  const listeners = new Set<(event: EngineEvent) => void>()
  const closing = new AbortController()
  let open = false

  function tell(event: EngineEvent): void {
    for (const listener of listeners) listener(event)
  }

  async function run(): Promise<void> {
    let waitMs = 100
    let away = false
    while (!closing.signal.aborted) {
      try {
        const stream = await docker.getEvents({ filters: { type: ['container'] }, abortSignal: closing.signal })
        if (away) log.info('the Docker engine answers again')
        away = false
        waitMs = 100
        open = true
        tell({ kind: 'relist' })
        await readLines(stream, (line) => {
          const event = parse(line)
          if (event) tell(event)
        })
      } catch (error) {
        if (closing.signal.aborted) return
        if (!away) log.warn({ reason: translate(error, 'events').message }, 'the Docker engine is away, trying again')
        away = true
      }
      open = false
      await pause(waitMs, closing.signal).catch(() => undefined)
      waitMs = Math.min(2_000, waitMs * 2)
    }
  }
  inBackground('the events of the engine', run)

  return {
    tell,
    subscribe(given) {
      // One listener that fails must neither end the stream of events nor keep them from the others.
      const listener = guarded('a listener for events of the engine', given)
      listeners.add(listener)
      if (open)
        queueMicrotask(
          guarded('a listener for events of the engine', () => {
            if (listeners.has(listener)) listener({ kind: 'relist' })
          }),
        )
      return () => listeners.delete(listener)
    },
    close: () => closing.abort(),
  }
}

interface RawEvent {
  Action?: string
  Actor?: { ID?: string; Attributes?: Record<string, string> }
}

function parse(line: string): EngineEvent | undefined {
  if (line.trim() === '') return undefined
  const raw = JSON.parse(line) as RawEvent
  const action = raw.Action ?? ''
  const plain = action.split(':')[0] ?? action
  if (!actions.has(plain) && plain !== 'health_status') return undefined
  const { name = '', ...labels } = raw.Actor?.Attributes ?? {}
  return { kind: 'container', action, id: raw.Actor?.ID ?? '', name, labels }
}

/** Calls back for every line of a stream, until it ends. */
async function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
