import type { LogLine } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import type { AgentStream, LogBatch } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import type { Subscriber } from '../live/index.ts'
import { engineScope } from '../nodes/index.ts'
import { millisecondsOf, toLogText } from './container-view.ts'

type Ref = { prefix: string; name: string }
export type LogWatch = { close(): void }

/** Above this many bytes in the socket the server stops reading from the agent, and so from the engine. */
const bufferedMax = 1_048_576
/** The maximum number of characters of one message. */
const pieceMax = 262_144
/** A browser that reads nothing for this long loses lines from then on, and gets their number. */
const stallMs = 5_000
const reopenMs = 1_000

/**
 * Follows the log of a container for one subscriber, with its own stream at the agent, so that a slow subscriber
 * affects no other. The subscription survives an unavailable agent and continues after the last line that was
 * delivered.
 */
export function watchLog(
  app: App,
  options: { nodeId: string; container: Ref; take: number; batch: boolean; subscriber: Subscriber<'node'> },
): { opened: Promise<void>; watch: LogWatch } {
  const { nodeId, container, subscriber, batch } = options
  let stream: AgentStream | undefined
  let opening: Promise<void> | undefined
  let closed = false
  let last: LogLine['at']
  let stalled = false
  let skipped = 0
  let retry: NodeJS.Timeout | undefined

  const unlisten = app.links.onLinked((agent) => {
    if (agent.nodeId !== nodeId) return
    // The stream that is being opened belongs to the previous link.
    const before = opening?.catch(() => undefined)
    const reopen = async () => {
      await before
      if (!stream && !closed) await open()
    }
    void reopen().catch((error: unknown) => subscriber.fail(error))
  })

  function open(): Promise<void> {
    opening ??= openStream().finally(() => {
      opening = undefined
    })
    return opening
  }

  async function openStream() {
    clearTimeout(retry)
    const scope = await engineScope(app, { teamId: subscriber.team.id, nodeId })
    const opened = await app.links.followLog(
      nodeId,
      { container, scope, take: options.take, ...(last && { since: { seconds: last.seconds, nanos: last.nanos } }) },
      { message, ended },
    )
    if (closed) opened.close()
    else stream = opened
  }

  function ended(error?: Error) {
    stream = undefined
    if (closed || subscriber.left) return
    const link = app.links.status(nodeId)
    // The agent is unavailable: `onLinked` continues. Every other error is shown to the user.
    if (link !== 'connected') return
    if (error && !(error instanceof CruxError && error.property === 'agent')) return subscriber.fail(error)
    retry = setTimeout(() => void open().catch((cause: unknown) => subscriber.fail(cause)), reopenMs)
  }

  function message({ lines }: LogBatch): void | Promise<void> {
    if (closed || subscriber.left) return
    if (lines.length === 0) return
    last = lines.at(-1)?.at ?? last
    const pieces = piecesOf(lines)
    const [only] = pieces
    if (pieces.length > 1 || !only) return showAll(pieces)
    if (take(only)) return drainedOrStalled()
  }

  async function showAll(pieces: LogLine[][]) {
    for (const piece of pieces) if (!closed && !subscriber.left && take(piece)) await drainedOrStalled()
  }

  /** @returns whether the socket is full now */
  function take(lines: LogLine[]): boolean {
    if (stalled) {
      skipped += lines.length
      return false
    }
    show(lines)
    return subscriber.buffered() > bufferedMax
  }

  async function drainedOrStalled() {
    const drained = subscriber.drained().then(() => true as const)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), stallMs)
    })
    const inTime = await Promise.race([drained, late])
    clearTimeout(timer)
    if (inTime) return
    stalled = true
    void drained.then(() => {
      stalled = false
      if (skipped > 0 && !closed && !subscriber.left) show([])
    })
  }

  function show(lines: LogLine[]) {
    const missed = skipped
    skipped = 0
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

  return {
    opened: open(),
    watch: {
      close() {
        if (closed) return
        closed = true
        clearTimeout(retry)
        unlisten()
        stream?.close()
      },
    },
  }
}

const toTuple = ({ at, stderr, text }: LogLine): [number, number, string] => [
  at ? millisecondsOf(at) : 0,
  stderr ? 1 : 0,
  text,
]

/** Batches with very long lines are sent in parts, so that no single message fills the socket. */
function piecesOf(lines: LogLine[]): LogLine[][] {
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
