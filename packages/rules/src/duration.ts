/** Renders durations as "40 ms", "6.2 s", "1 min 4 s". The console and the outcomes of releases use this one format. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`
}

/** Counts from when the agent received the release, because time in the queue is not part of its work. */
export function releaseDurationMs(release: {
  startedAt: string | Date
  dispatchedAt?: string | Date | null
  finishedAt?: string | Date | null
}): number | null {
  if (!release.finishedAt) return null
  const from = new Date(release.dispatchedAt ?? release.startedAt).getTime()
  return Math.max(0, new Date(release.finishedAt).getTime() - from)
}
