/** The pages to offer: two on each side of the current one, inside 0..last. */
export function pagesAround(page: number, last: number): number[] {
  const from = Math.max(0, Math.min(page - 2, last - 4))
  const to = Math.min(last, Math.max(page + 2, 4))
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
