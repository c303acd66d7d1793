export type DayCount = { day: string; accepted: number; refused: number }
export type Bar = DayCount & { from: string; to: string }

/** At most this many bars stay readable. */
export const barsMax = 92

/** One bar for every local day of a range, also where nothing happened; undefined for ranges that are too long to draw. */
export function toBars(range: { from: Date; to: Date }, days: readonly DayCount[]): Bar[] | undefined {
  const counts = new Map(days.map((one) => [one.day, one]))
  const bars: Bar[] = []
  const { from } = range
  for (let offset = 0; ; offset++) {
    const start = new Date(from.getFullYear(), from.getMonth(), from.getDate() + offset)
    if (start > range.to) return bars
    if (bars.length === barsMax) return undefined
    const end = new Date(start.getFullYear(), start.getMonth(), start.getDate(), 23, 59, 59, 999)
    const day = [start.getFullYear(), start.getMonth() + 1, start.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-')
    const found = counts.get(day)
    bars.push({
      day,
      accepted: found?.accepted ?? 0,
      refused: found?.refused ?? 0,
      from: start.toISOString(),
      to: end.toISOString(),
    })
  }
}
