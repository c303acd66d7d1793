import type { Run } from './run-queries.ts'

export type RunBar = { run: Run; durationMs: number /** of the longest run, 0 to 1 */; share: number }

/** The clocks of the service and of Crux differ, so a short run may seem to end before it began. */
export const getDurationMs = ({ startedAt, finishedAt }: Run, now: number): number =>
  Math.max(0, (finishedAt ? Date.parse(finishedAt) : now) - Date.parse(startedAt))

/**
 * A bar for each run, oldest first. Finished runs set the scale, so that one which hangs does not hide how long the others
 * took; a run that never reported has no duration.
 */
export function toRunBars(runs: readonly Run[], now: number): RunBar[] {
  const bars = runs.map((run) => ({ run, durationMs: run.finishedAt || isOpen(run) ? getDurationMs(run, now) : 0 }))
  const longest = getLongestMs(runs) || Math.max(1, ...bars.map(({ durationMs }) => durationMs))
  return bars.map((bar) => ({ ...bar, share: Math.min(1, bar.durationMs / longest) })).reverse()
}

/** Of the finished runs; 0 where there is none. */
export const getLongestMs = (runs: readonly Run[]): number =>
  Math.max(0, ...runs.map((run) => (run.finishedAt ? getDurationMs(run, 0) : 0)))

const isOpen = ({ status }: Run) => status === 'queued' || status === 'running'
