import { type FreezeWindowWrite, patterns } from '@crux/contract'
import { dayMs, firstTimeAt, isTimeZone, lastTimeAt, minuteMs, toLocalTime } from './local-time.ts'

/** Why nothing may be deployed, and until when. */
export type Freeze = {
  reason: string
  until: Date
  /** The zone of the window that gives the reason. */
  timeZone?: string
  /** No end was found as far as it was looked for, which is `until`. */
  openEnded?: true
}
type Span = { from: number; until: number }

/** Weekly windows that follow one another are looked at for this long: more than a week, after which they repeat. */
const lookMs = 8 * dayMs
const unusableMs = 60 * minuteMs

/**
 * The freeze at a time; undefined while none of the windows includes it. It ends when the windows do that overlap or
 * adjoin one another. Of several windows the reason is that of the one which ends last.
 *
 * A window that cannot be evaluated freezes: otherwise a damaged one would allow what it was made to prevent.
 */
export function findFreeze(windows: readonly FreezeWindowWrite[], now: Date): Freeze | undefined {
  const unusable = windows.find((window) => !isUsable(window))
  if (unusable)
    return {
      reason: `${unusable.reason} (the times of this freeze window cannot be evaluated: an admin has to correct it)`,
      until: new Date(now.getTime() + unusableMs),
      openEnded: true,
    }
  const last = findLast(windows, now.getTime())
  if (!last) return undefined
  const { reason } = last.window
  const timeZone = last.window.kind === 'weekly' ? { timeZone: last.window.timeZone } : {}
  let until = last.until
  let lookUntil = now.getTime() + lookMs
  for (let next: typeof last | undefined = last; next; next = findLast(windows, until)) {
    until = next.until
    if (next.window.kind === 'once') lookUntil = until + lookMs
    else if (until >= lookUntil) return { reason, ...timeZone, until: new Date(until), openEnded: true }
  }
  return { reason, ...timeZone, until: new Date(until) }
}

/** The problems of a window that is about to be stored. */
export function findFreezeProblems(window: FreezeWindowWrite, now: Date): { property: string; description: string }[] {
  if (window.kind === 'weekly') {
    if (isTimeZone(window.timeZone)) return []
    const description = `${window.timeZone} is not a known time zone. Use a name such as Europe/Budapest.`
    return [{ property: 'timeZone', description }]
  }
  const { from, until } = toSpan(window)
  if (Number.isNaN(from)) return [{ property: 'from', description: 'This is not a date that exists.' }]
  if (Number.isNaN(until)) return [{ property: 'to', description: 'This is not a date that exists.' }]
  if (until <= from) return [{ property: 'to', description: 'The end has to be later than the beginning.' }]
  if (until <= now.getTime())
    return [{ property: 'to', description: 'The end has passed already. Choose one in the future.' }]
  return []
}

/** When a window freezes next, or its current time; undefined when it never does again. */
export function findNextFreeze(window: FreezeWindowWrite, now: Date): { from: Date; until: Date } | undefined {
  if (!isUsable(window)) return undefined
  // The clock may skip a window in one week.
  const spans = window.kind === 'once' ? [toSpan(window)] : spansAround(window, now.getTime(), { before: 2, after: 15 })
  const next = spans.filter(({ until }) => until > now.getTime()).sort((a, b) => a.from - b.from)[0]
  return next && { from: new Date(next.from), until: new Date(next.until) }
}

/** "until 2026-12-24 17:00 UTC (18:00 in Europe/Budapest)" */
export function freezeEndText({ until, timeZone, openEnded }: Freeze): string {
  if (openEnded) return 'without an end in the next days'
  const time = (local: number) => new Date(local).toISOString().slice(0, 16).replace('T', ' ')
  const utc = time(until.getTime())
  const local = timeZone && isTimeZone(timeZone) ? time(toLocalTime(timeZone, until.getTime())) : utc
  if (local === utc) return `until ${utc} UTC`
  const shown = local.slice(0, 10) === utc.slice(0, 10) ? local.slice(11) : local
  return `until ${utc} UTC (${shown} in ${timeZone})`
}

/** Of the windows that include a time the one that ends last. */
function findLast(windows: readonly FreezeWindowWrite[], time: number) {
  let last: { window: FreezeWindowWrite; until: number } | undefined
  for (const window of windows) {
    const spans = window.kind === 'once' ? [toSpan(window)] : spansAround(window, time, { before: 2, after: 1 })
    for (const { from, until } of spans)
      if (from <= time && time < until && (!last || until > last.until)) last = { window, until }
  }
  return last
}

const toSpan = ({ from, to }: { from: string; to: string }): Span => ({ from: Date.parse(from), until: Date.parse(to) })

/** The spans of a weekly window that begin on the days around a time. A span in an hour that the clock skips is empty. */
function spansAround(
  { days, from, to, timeZone }: Extract<FreezeWindowWrite, { kind: 'weekly' }>,
  time: number,
  { before, after }: { before: number; after: number },
): Span[] {
  const today = Math.floor(toLocalTime(timeZone, time) / dayMs)
  const endsNextDay = to <= from ? 1 : 0
  const spans: Span[] = []
  for (let day = today - before; day <= today + after; day++) {
    if (!days.includes(isoDay(day))) continue
    const span = {
      from: firstTimeAt(timeZone, day * dayMs + timeOfDay(from)),
      until: lastTimeAt(timeZone, (day + endsNextDay) * dayMs + timeOfDay(to)),
    }
    if (span.from < span.until) spans.push(span)
  }
  return spans
}

/** 1970-01-01, day 0, was a Thursday. */
const isoDay = (day: number) => ((((day + 3) % 7) + 7) % 7) + 1

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * minuteMs
}

function isUsable(window: FreezeWindowWrite): boolean {
  if (window.kind === 'once') {
    const { from, until } = toSpan(window)
    return from < until
  }
  const { days, from, to, timeZone } = window
  const areTimes = patterns.timeOfDay.test(from) && patterns.timeOfDay.test(to)
  return areTimes && days.length > 0 && days.every((day) => day >= 1 && day <= 7) && isTimeZone(timeZone)
}
