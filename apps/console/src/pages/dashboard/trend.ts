type Medians = { medianMs: number | null; previousMedianMs: number | null }
export type Trend = { kind: 'faster' | 'slower' | 'same'; percent: number }

/** How the median time changed, in whole percent of the previous one; null where there is nothing to compare. */
export function toTrend({ medianMs, previousMedianMs }: Medians): Trend | null {
  if (medianMs === null || !previousMedianMs) return null
  const percent = Math.round((Math.abs(medianMs - previousMedianMs) / previousMedianMs) * 100)
  if (percent === 0) return { kind: 'same', percent }
  return { kind: medianMs < previousMedianMs ? 'faster' : 'slower', percent }
}
