import { useEffect, useRef, useState } from 'react'
import { createLogBuffer, type NewLine } from '../../components/log-viewer/log-buffer.ts'
import type { Progress } from './progress.ts'

export type LogSource = 'all' | 'agent' | (string & {})

/** The release's words as a log: all, those of the agent, or of one container. Appends what is new, starts over when the choice changes. */
export function useReleaseLog(
  progress: Progress,
  source: LogSource,
  nameOf: (instanceId: string) => string,
  agent: string,
) {
  const [buffer] = useState(() => createLogBuffer())
  const shown = useRef({ key: '', sequence: 0, count: 0 })
  // Names may arrive after the first lines.
  const key = `${progress.try} ${source} ${agent} ${Object.keys(progress.instances).map(nameOf).join()}`
  useEffect(() => {
    const { events } = progress
    const last = shown.current
    const grown = last.key === key && (last.count === 0 || events[last.count - 1]?.sequence === last.sequence)
    if (!grown) buffer.clear()
    const fresh = grown ? events.slice(last.count) : events
    buffer.append(
      fresh.flatMap((event): NewLine[] => {
        const { log } = event
        if (!log || (source !== 'all' && (event.instanceId ?? 'agent') !== source)) return []
        const at = Date.parse(event.createdAt)
        const who = event.instanceId ? nameOf(event.instanceId) : agent
        return log.log.map((text) => ({ at, text, level: log.level, source: who }))
      }),
    )
    shown.current = { key, count: events.length, sequence: events.at(-1)?.sequence ?? 0 }
  }, [buffer, progress, key, source, nameOf, agent])
  return buffer
}
