import type { ContainerConfigFields } from '@crux/contract'
import { valueAt } from '@crux/rules'
import { getRows, toKey } from './config-rows.ts'

export type FieldTarget = {
  /** As a problem names it: `volumes[1].path`, `environment.LEVEL`, `routing.port`. */
  property: string
  /** Of the innermost row that it lies in. */
  rowId?: string
  /** The field of that row: `path`. */
  part?: string
}

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
    // A row is named by its place, or by its key in lists that have keys.
    const rows = getRows(inner).filter((row) => !merged || row.value !== null)
    const found = /^\d+$/.test(step) ? rows[Number(step)] : rows.find((row) => toKey(row) === step)
    if (found) {
      rowId = typeof found.id === 'string' ? found.id : undefined
      rest = []
    } else rest.push(step)
    inner = found ?? valueAt(inner, [step])
  }
  return { property, ...(rowId !== undefined && { rowId, part: rest.join('.') }) }
}
