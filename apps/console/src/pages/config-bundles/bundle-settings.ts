import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { isKeyedField, isUnset, rowKey } from '@crux/rules'

export type Setting = { field: ContainerConfigField; keys: string[]; more: number }

const shownMax = 8

/** What a layer says, field by field; lists by the keys of their rows. */
export function settingsOf({ id: _id, type: _type, updatedAt: _updatedAt, ...fields }: Config): Setting[] {
  const named = Object.entries(fields) as [ContainerConfigField, ContainerConfigFields[ContainerConfigField]][]
  return named
    .filter(([field, value]) => value !== undefined && !isUnset(field, value))
    .map(([field, value]) => {
      const keys =
        Array.isArray(value) && isKeyedField(field)
          ? value.map((row) => rowKey(row as Parameters<typeof rowKey>[0]))
          : []
      return { field, keys: keys.slice(0, shownMax), more: Math.max(0, keys.length - shownMax) }
    })
}

type Config = ContainerConfigFields & { id?: string; type?: string; updatedAt?: string }
