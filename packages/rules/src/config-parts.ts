import { type ContainerConfigField, type ContainerConfigFields, isContainerConfigField } from '@crux/contract'
import { isRecord, toRecord } from './json-record.ts'

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
/** A row of any of these fields. */
export type KeyedRow = NonNullable<ContainerConfigFields[KeyedField]>[number]

export const markerFields = ['labels', 'annotations'] as const satisfies readonly ContainerConfigField[]
export type MarkerField = (typeof markerFields)[number]
export const markerSections = ['deployment', 'service', 'ingress'] as const

const keyed: ReadonlySet<string> = new Set(keyedFields)
export const isKeyedField = (field: string): field is KeyedField => keyed.has(field)
export const isMarkerField = (field: string): field is MarkerField => markerFields.some((name) => name === field)

/** The fields that a layer names, null included. */
export const fieldsIn = (fields: ContainerConfigFields): ContainerConfigField[] =>
  Object.keys(fields).filter(isContainerConfigField)

export const rowsIn = (fields: ContainerConfigFields, field: KeyedField): KeyedRow[] => fields[field] ?? []

/**
 * Whether a layer does not set the field, so that the layer below applies. Empty `args` or `commands`, an empty text and user -1 count as not set.
 */
export function isUnset(field: ContainerConfigField, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (field === 'args' || field === 'commands') return Array.isArray(value) && value.length === 0
  return field === 'user' && value === -1
}

type Range = { from: number; to: number }
export type RowWithKey =
  | { key: string }
  | { path: string }
  | { internal: number; protocol?: string }
  | { internal: Range }

/** The key of a row inside its list: the key, `8080/tcp`, `8000-8010`, the path of a volume. */
export function rowKey(row: RowWithKey): string {
  if ('key' in row) return row.key
  if ('path' in row) return row.path
  if (typeof row.internal === 'object') return `${row.internal.from}-${row.internal.to}`
  return `${row.internal}/${('protocol' in row && row.protocol) || 'tcp'}`
}

export type ConfigPart = {
  path: string
  field: ContainerConfigField
  /** The row, if the part is one of a list or of a marker. */
  row?: KeyedRow
  /** Without ids. */
  value: unknown
}

/**
 * Splits a layer into the parts that are merged, compared and owned separately: `name`, `environment.LOG_LEVEL`, `ports.8080/tcp`,
 * `labels.service.team`. Null and absent settings are no parts.
 */
export function configParts(fields: ContainerConfigFields): Map<string, ConfigPart> {
  const parts = [...partPaths(fields)].map(({ path, field, row }): [string, ConfigPart] => {
    const value = withoutIds(row ?? fields[field])
    return [path, { path, field, value, ...(row && { row }) }]
  })
  return new Map(parts)
}

/** The parts of a layer without their values, which cost most of the time. */
export function* partPaths(fields: ContainerConfigFields): Generator<Omit<ConfigPart, 'value'>> {
  for (const field of fieldsIn(fields)) {
    if (isKeyedField(field))
      for (const row of rowsIn(fields, field)) yield { path: `${field}.${rowKey(row)}`, field, row }
    else if (isMarkerField(field)) {
      for (const section of markerSections)
        for (const row of fields[field]?.[section] ?? []) yield { path: `${field}.${section}.${row.key}`, field, row }
    } else if (fields[field] !== null && fields[field] !== undefined) yield { path: field, field }
  }
}

/** A deep copy without row ids and unset values, for the comparison of two settings. */
export function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds)
  if (!isRecord(value)) return value
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
  const [a, b] = [toRecord(left), toRecord(right)]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    (name) => name === 'id' || sameValue(a[name], b[name]),
  )
}
