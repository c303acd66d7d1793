import type { ContainerConfigFields } from '@crux/contract'
import { rowKey } from '@crux/rules'

export type FieldTarget = {
  /** As a problem names it: `volumes[1].path`, `environment.LEVEL`, `routing.port`. */
  property: string
  /** Of the innermost row that it lies in. */
  rowId?: string
  /** The field of that row: `path`. */
  part?: string
}

type Row = { id?: string; key?: string; value?: unknown }

/**
 * Finds the position of a property in the form.
 *
 * @param fields the configuration that the indexes of the property refer to
 * @param merged of all layers: removed keys are not counted in its indexes
 */
export function findFieldTarget(property: string, fields: ContainerConfigFields, merged: boolean): FieldTarget {
  let inner: unknown = fields
  let rowId: string | undefined
  let rest: string[] = []
  for (const step of property.match(/[^.[\]]+/g) ?? []) {
    const found = Array.isArray(inner)
      ? rowAt(
          (inner as Row[]).filter((row) => !merged || row.value !== null),
          step,
        )
      : undefined
    if (found) {
      rowId = found.id
      rest = []
    } else rest.push(step)
    inner = found ?? (inner as Record<string, unknown> | null | undefined)?.[step]
  }
  return { property, ...(rowId !== undefined && { rowId, part: rest.join('.') }) }
}

/** By its place, or where keys are named by its key. */
const rowAt = (rows: readonly Row[], step: string): Row | undefined =>
  /^\d+$/.test(step) ? rows[Number(step)] : rows.find((row) => rowKey(row as Parameters<typeof rowKey>[0]) === step)
