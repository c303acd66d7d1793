import { useSyncExternalStore } from 'react'
import { absoluteTime, relativeTime } from './relative-time.ts'
import { Tooltip } from './Tooltip.tsx'

/** A relative time that stays right while the page is open; the absolute one on hover. */
export function RelativeTime({ at, className }: { at: string | null | undefined; className?: string }) {
  const now = useNow()
  if (!at)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  const time = Date.parse(at)
  return (
    <Tooltip content={absoluteTime(time)}>
      <time dateTime={at} className={className ?? 'text-ink-2 tabular-nums'}>
        {relativeTime(time, now)}
      </time>
    </Tooltip>
  )
}

/** The current time, one shared tick per second for all subscribers, and none without subscribers. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const readers = new Set<() => void>()

function subscribe(reader: () => void): () => void {
  readers.add(reader)
  if (readers.size === 1) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const notify of readers) notify()
    }, 1000)
  }
  return () => {
    readers.delete(reader)
    if (readers.size === 0) clearInterval(timer)
  }
}
