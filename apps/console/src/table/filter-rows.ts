/** Case-insensitive substring search in the given values of each row. */
export function filterRows<Row>(
  rows: readonly Row[],
  text: string,
  values: (row: Row) => readonly (string | null | undefined)[],
): Row[] {
  const needle = text.trim().toLowerCase()
  if (needle === '') return [...rows]
  return rows.filter((row) => values(row).some((value) => value?.toLowerCase().includes(needle)))
}
