import { useNow } from '../../components/RelativeTime.tsx'
import { duration, relativeTime } from '../../components/relative-time.ts'
import { getDurationMs } from './run-bars.ts'
import type { Run } from './run-queries.ts'

/** How long a run took, or how long it has been running. */
export function RunDuration({ run }: { run: Run }) {
  if (run.finishedAt) return <span className="tabular-nums">{duration(getDurationMs(run, 0))}</span>
  if (run.status !== 'queued' && run.status !== 'running') return <span data-no-value>-</span>
  return <Elapsed since={run.startedAt} />
}

function Elapsed({ since }: { since: string }) {
  const now = useNow()
  const elapsed = relativeTime(Date.parse(since), now)
  return <span className="tabular-nums">{elapsed === 'now' ? '0 s' : elapsed}</span>
}
