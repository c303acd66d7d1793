/** The candidate that differs from a text by a typing error, or undefined. */
export function findNearest(text: string, candidates: readonly string[]): string | undefined {
  if (text.length > 60) return undefined
  const lower = text.toLowerCase()
  const limit = lower.length < 4 ? 1 : lower.length < 8 ? 2 : 3
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - text.length) > limit) continue
    const distance = measureDistance(lower.replaceAll('-', '_'), candidate.toLowerCase())
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance }
  }
  return best?.candidate
}

/** Letters that are added, removed, replaced, or exchanged with their neighbour. */
function measureDistance(from: string, to: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isEqual = from[row - 1] === to[column - 1]
      const replaced = (last[column - 1] ?? 0) + (isEqual ? 0 : 1)
      let cost = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    before = last
    last = current
  }
  return last[to.length] ?? 0
}
