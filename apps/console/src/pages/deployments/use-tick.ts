import { useEffect, useRef, useState } from 'react'
import type { Progress } from './progress.ts'

/**
 * The time for the counter while a release is running, five times a second. The events carry the agent's clock; one that is ahead
 * of this machine's moves the count along, so that no step seems to have begun in the future.
 */
export function useTick(running: boolean, progress: Progress): number {
  const [now, setNow] = useState(Date.now)
  const ahead = useRef(0)
  const last = progress.events.at(-1)
  if (running && last) ahead.current = Math.max(ahead.current, Date.parse(last.createdAt) - Date.now())
  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setNow(Date.now()), 200)
    return () => clearInterval(timer)
  }, [running])
  return now + ahead.current
}
