import type { LogLine } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import type { AgentStream, LogBatch } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import type { Subscriber } from '../live/index.ts'
import { engineScope } from '../nodes/index.ts'
import { toLogText, toMilliseconds } from './container-view.ts'

type Ref = { prefix: string; name: string }

/** Above this many bytes in the socket the server stops reading from the agent, and so from the engine. */
const bufferedMax = 1_048_576
/** The maximum number of characters of one message. */
const pieceMax = 262_144
/** A browser that reads nothing for this long loses lines from then on, and gets their number. */
const stallMs = 5_000
const reopenMs = 1_000

type Options = {
  nodeId: string
  container: Ref
  /** Only this pod of a workload; undefined: all. */
  pod: string | undefined
  take: number
  batch: boolean
  subscriber: Subscriber<'node'>
}

/**
 * Follows the log of a container for one subscriber, with its own stream at the agent, so that a slow subscriber
 * affects no other. The subscription survives an unavailable agent and continues after the last line that was
 * delivered.
 */
export class LogWatch {
  readonly opened: Promise<void>
  readonly batch: boolean
  readonly pod: string | undefined
  private readonly app: App
  private readonly options: Options
  private readonly unsubscribe: () => void
  private stream: AgentStream | undefined
  private opening: Promise<void> | undefined
  private closed = false
  private last: LogLine['at']
  private stalled = false
  private skipped = 0
  private retry: NodeJS.Timeout | undefined

  constructor(app: App, options: Options) {
    this.app = app
    this.options = options
    this.batch = options.batch
    this.pod = options.pod
    this.unsubscribe = app.links.onLinked((agent) => {
      if (agent.nodeId === options.nodeId) void this.reopen().catch((error: unknown) => options.subscriber.fail(error))
    })
    this.opened = this.open()
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    clearTimeout(this.retry)
    this.unsubscribe()
    this.stream?.close()
  }

  private async reopen(): Promise<void> {
    // The stream that is being opened belongs to the previous link.
    await this.opening?.catch(() => undefined)
    if (!this.stream && !this.closed) await this.open()
  }

  private open(): Promise<void> {
    this.opening ??= this.openStream().finally(() => {
      this.opening = undefined
    })
    return this.opening
  }

  private async openStream(): Promise<void> {
    const { nodeId, container, pod = '', take, subscriber } = this.options
    clearTimeout(this.retry)
    const scope = await engineScope(this.app, { teamId: subscriber.team.id, nodeId })
    const since = this.last && { seconds: this.last.seconds, nanos: this.last.nanos }
    const opened = await this.app.links.followLog(
      nodeId,
      { container, scope, take, pod, ...(since && { since }) },
      { message: (batch) => this.receive(batch), ended: (error) => this.ended(error) },
    )
    if (this.closed) opened.close()
    else this.stream = opened
  }

  private ended(error?: Error) {
    const { nodeId, subscriber } = this.options
    this.stream = undefined
    if (this.over()) return
    // The agent is unavailable: `onLinked` continues. Every other error is shown to the user.
    if (this.app.links.status(nodeId) !== 'connected') return
    if (error && !(error instanceof CruxError && error.property === 'agent')) return subscriber.fail(error)
    this.retry = setTimeout(() => void this.open().catch((cause: unknown) => subscriber.fail(cause)), reopenMs)
  }

  private receive({ lines }: LogBatch): void | Promise<void> {
    if (this.over() || lines.length === 0) return
    this.last = lines.at(-1)?.at ?? this.last
    const pieces = toPieces(lines)
    const [only] = pieces
    if (pieces.length > 1 || !only) return this.showAll(pieces)
    if (this.take(only)) return this.drainedOrStalled()
  }

  private async showAll(pieces: LogLine[][]): Promise<void> {
    for (const piece of pieces) if (!this.over() && this.take(piece)) await this.drainedOrStalled()
  }

  /** @returns whether the socket is full now */
  private take(lines: LogLine[]): boolean {
    if (this.stalled) {
      this.skipped += lines.length
      return false
    }
    this.show(lines)
    return this.options.subscriber.buffered() > bufferedMax
  }

  private async drainedOrStalled(): Promise<void> {
    const drained = this.options.subscriber.drained().then(() => true as const)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), stallMs)
    })
    const inTime = await Promise.race([drained, late])
    clearTimeout(timer)
    if (inTime) return
    this.stalled = true
    void drained.then(() => {
      this.stalled = false
      if (this.skipped > 0 && !this.over()) this.show([])
    })
  }

  private show(lines: LogLine[]): void {
    const { container, subscriber, batch } = this.options
    const missed = this.skipped
    this.skipped = 0
    if (batch) {
      subscriber.send('container-log-batch', {
        container,
        lines: lines.map(toTuple),
        ...(missed > 0 && { skipped: missed }),
      })
      return
    }
    if (missed > 0) subscriber.send('container-log', { log: `${missed} lines skipped`, container })
    for (const line of lines) subscriber.send('container-log', { log: toLogText(line), container })
  }

  private over(): boolean {
    return this.closed || this.options.subscriber.left
  }
}

const toTuple = ({ at, stderr, text }: LogLine): [number, number, string] => [
  at ? toMilliseconds(at) : 0,
  stderr ? 1 : 0,
  text,
]

/** Batches with very long lines are sent in parts, so that no single message fills the socket. */
function toPieces(lines: LogLine[]): LogLine[][] {
  const pieces: LogLine[][] = []
  let start = 0
  let length = 0
  for (let index = 0; index < lines.length; index++) {
    length += lines[index]?.text.length ?? 0
    if (length <= pieceMax) continue
    pieces.push(lines.slice(start, index + 1))
    start = index + 1
    length = 0
  }
  if (start === 0) return [lines]
  if (start < lines.length) pieces.push(lines.slice(start))
  return pieces
}
