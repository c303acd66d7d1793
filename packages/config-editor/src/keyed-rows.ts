/** Rows of a list that is merged with those of other layers: their values, and the overrides of this layer. */
export type LayeredRow<Row> = {
  row: Row
  /** own: only in this layer. override: replaces an inherited row. inherited: from a lower layer. removed: inherited, but removed here. */
  origin: 'own' | 'override' | 'inherited' | 'removed'
  /** Place in this layer's list, -1 for an inherited one. */
  index: number
  /** Stays the same while a key is typed. */
  id: string
}

type AnyRow = { id?: string }

export function layerRows<Row extends AnyRow>(
  own: readonly Row[],
  parent: readonly Row[],
  same: (keyof Row & string) | ((a: Row, b: Row) => boolean),
  isRemoval: (row: Row) => boolean = () => false,
): LayeredRow<Row>[] {
  const used = new Set<number>()
  // Where `same` is equality of a key, a map avoids a million comparisons for a thousand rows.
  const keys = typeof same === 'string' ? new Map(own.map((row, at) => [row[same], at] as const).reverse()) : null
  const inherited = parent.map((row, place): LayeredRow<Row> => {
    const index =
      typeof same === 'string'
        ? (keys?.get(row[same]) ?? -1)
        : own.findIndex((mine, at) => !used.has(at) && same(mine, row))
    const mine = own[index]
    if (!mine) return { row, origin: 'inherited', index: -1, id: `parent-${row.id ?? place}` }
    used.add(index)
    // The id of the row below keeps the input in place when it becomes an override.
    return {
      row: isRemoval(mine) ? row : mine,
      origin: isRemoval(mine) ? 'removed' : 'override',
      index,
      id: `parent-${row.id ?? place}`,
    }
  })
  const rest = own.flatMap((row, index): LayeredRow<Row>[] =>
    used.has(index) ? [] : [{ row, origin: 'own', index, id: row.id ?? `own-${index}` }],
  )
  return [...inherited, ...rest]
}

/** This layer's list after a row was changed; changing an inherited one makes a copy of it here. */
export function withRow<Row extends AnyRow>(
  own: readonly Row[],
  layered: LayeredRow<Row>,
  change: Partial<Row>,
  newId: () => string,
): Row[] {
  if (layered.index < 0) return [...own, { ...layered.row, ...change, id: newId() }]
  return own.map((row, index) => (index === layered.index ? { ...row, ...change } : row))
}

export const withoutRow = <Row>(own: readonly Row[], index: number): Row[] => own.filter((_, at) => at !== index)
