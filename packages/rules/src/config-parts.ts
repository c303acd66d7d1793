import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'

/** Fields whose rows are separate parts: each row is merged, compared and patched by its key. */
export const keyedFields = [
  'environment',
  'secrets',
  'capabilities',
  'ulimits',
  'extraHosts',
  'dockerLabels',
  'extraLBAnnotations',
  'networks',
  'customHeaders',
  'ports',
  'portRanges',
  'volumes',
] as const satisfies readonly ContainerConfigField[]
export type KeyedField = (typeof keyedFields)[number]

export const markerFields = ['labels', 'annotations'] as const satisfies readonly ContainerConfigField[]
export const markerSections = ['deployment', 'service', 'ingress'] as const

export const isKeyedField = (field: string): field is KeyedField => (keyedFields as readonly string[]).includes(field)
export const isMarkerField = (field: string): field is (typeof markerFields)[number] =>
  (markerFields as readonly string[]).includes(field)

/**
 * Whether a layer does not set the field, so that the layer below applies. Empty `args` or `commands`, an empty text and user -1 count as not set.
 */
export function isUnset(field: ContainerConfigField, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (field === 'args' || field === 'commands') return Array.isArray(value) && value.length === 0
  return field === 'user' && value === -1
}

type Row = { key: string } | { internal: unknown; protocol?: string } | { path: string }

/** The key of a row inside its list: the key, `8080/tcp`, `8000-8010`, the path of a volume. */
export function rowKey(row: Row): string {
  if ('key' in row) return row.key
  if ('path' in row) return row.path
  if (typeof row.internal === 'number') return `${row.internal}/${row.protocol ?? 'tcp'}`
  const range = row.internal as { from: number; to: number }
  return `${range.from}-${range.to}`
}

export type ConfigPart = { path: string; field: ContainerConfigField; value: unknown }

/**
 * Splits a layer into the parts that are merged, compared and owned separately: `name`, `environment.LOG_LEVEL`, `ports.8080/tcp`,
 * `labels.service.team`. Null and absent settings are no parts; row ids are not part of the value.
 */
export function configParts(fields: ContainerConfigFields): Map<string, ConfigPart> {
  const parts = new Map<string, ConfigPart>()
  const add = (path: string, field: ContainerConfigField, value: unknown) => parts.set(path, { path, field, value })
  for (const [name, value] of Object.entries(fields)) {
    const field = name as ContainerConfigField
    if (value === null || value === undefined) continue
    if (isKeyedField(field)) {
      for (const row of value as Row[]) add(`${field}.${rowKey(row)}`, field, withoutIds(row))
    } else if (isMarkerField(field)) {
      for (const section of markerSections) {
        const rows = (fields[field]?.[section] ?? []) as { key: string }[]
        for (const row of rows) add(`${field}.${section}.${row.key}`, field, withoutIds(row))
      }
    } else add(field, field, withoutIds(value))
  }
  return parts
}

/** A deep copy without row ids and unset values, for the comparison of two settings. */
export function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== 'id' && inner !== undefined)
      .map(([name, inner]) => [name, withoutIds(inner)]),
  )
}

/** Whether values are equal apart from row ids, the order of properties, and the difference between null and absent. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right || (left ?? null) === (right ?? null)) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => sameValue(item, right[index]))
  }
  const a = left as Record<string, unknown>
  const b = right as Record<string, unknown>
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    (name) => name === 'id' || sameValue(a[name], b[name]),
  )
}
