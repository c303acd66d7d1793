/**
 * Returns the engine's status text of a container at another moment: "Up 4 minutes" and "Exited (137) 2 hours ago" age without an event. A
 * text that has no age, or that another engine words differently, is not changed.
 *
 * @param times milliseconds since 1970; undefined where the container never started or ended
 */
export function statusAt(
  status: string,
  times: { startedAt: number | undefined; finishedAt: number | undefined },
  now: number,
): string {
  const up = /^Up .*?( \([^)]*\))?$/.exec(status)
  if (up) return times.startedAt === undefined ? status : `Up ${durationText(now - times.startedAt)}${up[1] ?? ''}`
  const ended = /^((?:Exited|Restarting) \(-?\d+\)) .+ ago$/.exec(status)
  if (ended && times.finishedAt !== undefined) return `${ended[1]} ${durationText(now - times.finishedAt)} ago`
  return status
}

/** Rounds as the engine does: https://github.com/docker/go-units/blob/v0.5.0/duration.go */
function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 1) return 'Less than a second'
  if (seconds === 1) return '1 second'
  if (seconds < 60) return `${seconds} seconds`
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 1) return 'About a minute'
  if (minutes < 60) return `${minutes} minutes`
  const hours = Math.floor(ms / 3_600_000 + 0.5)
  if (hours === 1) return 'About an hour'
  if (hours < 48) return `${hours} hours`
  if (hours < 24 * 7 * 2) return `${Math.floor(hours / 24)} days`
  if (hours < 24 * 30 * 2) return `${Math.floor(hours / 24 / 7)} weeks`
  if (hours < 24 * 365 * 2) return `${Math.floor(hours / 24 / 30)} months`
  return `${Math.floor(ms / 3_600_000 / 24 / 365)} years`
}
