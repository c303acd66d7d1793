import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { createLogBuffer } from '../../components/log-viewer/log-buffer.ts'
import type { Progress } from './progress.ts'
import { releaseLines } from './release-lines.ts'

/** all: everything; agent: what is not a container's own output; else the id of an instance. */
export type LogSource = 'all' | 'agent' | (string & {})

/** The release's log in a buffer. Appends what is new, and starts over when the choice or the names change. */
export function useReleaseLog(progress: Progress, source: LogSource, getName: (instanceId: string) => string) {
  const { t } = useTranslation(['deployments', 'common'])
  const [buffer] = useState(() => createLogBuffer())
  const lines = useMemo(() => {
    const all = releaseLines(progress.events, getName, (key, values) => t(`line.${key}`, values))
    return all
      .filter((line) => source === 'all' || (source === 'agent' ? !line.fromContainer : line.instanceId === source))
      .map(({ instanceId, fromContainer, ...line }) => ({
        ...line,
        source: fromContainer ? getName(instanceId) : t('progress.agent'),
      }))
  }, [progress.events, getName, source, t])

  const shown = useRef<readonly { text: string; at: number }[]>([])
  useEffect(() => {
    const before = shown.current
    const last = before.at(-1)
    const same = lines[before.length - 1]
    const grown =
      before.length === 0 || (last?.text === same?.text && last?.at === same?.at && lines[0]?.text === before[0]?.text)
    if (!grown) buffer.clear()
    buffer.append(grown ? lines.slice(before.length) : lines)
    shown.current = lines
  }, [buffer, lines])
  return { buffer, lines }
}
