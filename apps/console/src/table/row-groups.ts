export type TableItem<Row> = { row: Row } | { group: string; count: number }

/** Rows with a line before the first of each group; rows of one group must already be adjacent. */
export function withGroups<Row>(rows: readonly Row[], groupBy: ((row: Row) => string) | undefined): TableItem<Row>[] {
  if (!groupBy) return rows.map((row) => ({ row }))
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(groupBy(row), (counts.get(groupBy(row)) ?? 0) + 1)
  return rows.flatMap((row, index): TableItem<Row>[] => {
    const group = groupBy(row)
    const before = rows[index - 1]
    const isFirst = before === undefined || groupBy(before) !== group
    return isFirst ? [{ group, count: counts.get(group) ?? 0 }, { row }] : [{ row }]
  })
}
