import { type ContainerConfigField, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { isKeyedField, isUnset, rowKey } from '@crux/rules'

export type Setting = { field: ContainerConfigField; keys: string[]; more: number }

const shownMax = 8

/** The settings of a layer by field; lists by the keys of their rows. */
export function getSettings(fields: ContainerConfigFields): Setting[] {
  return containerConfigFieldNames.flatMap((field) => {
    const value = fields[field]
    if (value === undefined || isUnset(field, value)) return []
    const rows: unknown[] = Array.isArray(value) && isKeyedField(field) ? value : []
    const keys = rows.map((row) => rowKey(row as Parameters<typeof rowKey>[0]))
    return [{ field, keys: keys.slice(0, shownMax), more: Math.max(0, keys.length - shownMax) }]
  })
}
