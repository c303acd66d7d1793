export type Sort = { column: string; direction: 'asc' | 'desc' }
export type SortValue = string | number | boolean | null | undefined

/** Orders rows by one value; empty values come last in both directions, equal ones keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  value: (row: Row) => SortValue,
  direction: Sort['direction'],
): Row[] {
  const sign = direction === 'asc' ? 1 : -1
  return [...rows].sort((a, b) => {
    const left = value(a)
    const right = value(b)
    const leftEmpty = left === null || left === undefined || left === ''
    const rightEmpty = right === null || right === undefined || right === ''
    if (leftEmpty || rightEmpty) return Number(leftEmpty) - Number(rightEmpty)
    return sign * compare(left, right)
  })
}

/** Keeps the order of rows and appends new ones, while a pointer is over the list. */
export function keepOrder<Row>(rows: readonly Row[], order: readonly string[], key: (row: Row) => string): Row[] {
  const positions = new Map(order.map((id, position) => [id, position]))
  return [...rows].sort((a, b) => (positions.get(key(a)) ?? order.length) - (positions.get(key(b)) ?? order.length))
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

const compare = (a: string | number | boolean, b: string | number | boolean) =>
  typeof a === 'string' && typeof b === 'string' ? collator.compare(a, b) : Number(a) - Number(b)
