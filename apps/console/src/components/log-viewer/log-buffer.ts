import type { LogLevel } from '@crux/contract'

/** One line as it came; `number` only grows and names the line in addresses. */
export type LogLine = {
  number: number
  /** Milliseconds since the epoch; 0 if unknown. */
  at: number
  text: string
  /** The source: a container or "agent". */
  source?: string
  level?: LogLevel
  /** Lines that were lost before this one; the line itself is then the marker. */
  skipped?: number
}
export type NewLine = Omit<LogLine, 'number'>

export type LogBuffer = {
  /** Adds lines; subscribers are notified once per frame for any number of lines. */
  append: (lines: readonly NewLine[]) => void
  /** Marks a gap: n lines could not be delivered. Gaps in a row become one. */
  addGap: (count: number) => void
  clear: () => void
  /** The line at a place from the oldest kept one, 0 to size - 1. */
  at: (index: number) => LogLine | undefined
  /** Index of a line's number; -1 if it was removed or has not arrived yet. */
  indexOf: (number: number) => number
  readonly size: number
  /** Number of the oldest kept line. */
  readonly first: number
  subscribe: (listener: () => void) => () => void
  /** Grows with each notification of subscribers; the snapshot for useSyncExternalStore. */
  readonly revision: number
}

type Options = {
  capacity?: number
  /** Schedules the notification of subscribers: an animation frame in a page. */
  schedule?: (run: () => void) => void
}

/** The last `capacity` lines in a ring: memory is bounded, and taking in a line costs the same whether it is full or empty. */
export function createLogBuffer({ capacity = 100_000, schedule = onFrame }: Options = {}): LogBuffer {
  const listeners = new Set<() => void>()
  let ring: LogLine[] = []
  /** Number of the next line; numbers start at 1, as people count. */
  let next = 1
  let size = 0
  let revision = 0
  let scheduled = false

  const notify = () => {
    if (scheduled) return
    scheduled = true
    schedule(() => {
      scheduled = false
      revision += 1
      for (const listener of listeners) listener()
    })
  }
  const push = (line: NewLine) => {
    ring[(next - 1) % capacity] = { ...line, number: next }
    next += 1
    if (size < capacity) size += 1
  }
  const lineAt = (index: number) =>
    index < 0 || index >= size ? undefined : ring[(next - 1 - size + index) % capacity]

  return {
    append(lines) {
      if (lines.length === 0) return
      for (const line of lines) push(line)
      notify()
    },
    addGap(count) {
      if (count <= 0) return
      const last = lineAt(size - 1)
      if (last?.skipped) last.skipped += count
      else push({ at: 0, text: '', skipped: count })
      notify()
    },
    clear() {
      ring = []
      next = 1
      size = 0
      notify()
    },
    at: lineAt,
    indexOf: (number) => (number >= next - size && number < next ? number - (next - size) : -1),
    get size() {
      return size
    },
    get first() {
      return next - size
    },
    get revision() {
      return revision
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A hidden tab has no animation frames, so a timer notifies subscribers there. */
const onFrame = (run: () => void) => {
  if (document.visibilityState === 'visible') requestAnimationFrame(run)
  else setTimeout(run, 250)
}
