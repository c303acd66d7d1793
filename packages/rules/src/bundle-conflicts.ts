import { type ContainerConfigField, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { overlappingRanges, sameVolume } from './config-merge.ts'
import {
  isKeyedField,
  isMarkerField,
  isUnset,
  type KeyedRow,
  markerSections,
  rowKey,
  rowsIn,
  sameValue,
} from './config-parts.ts'
import { isRecord, toRecord } from './json-record.ts'

export type ConflictingBundle = { configId: string; name: string; fields: ContainerConfigFields }
export type BundleConflict = {
  /** The part: `environment.LOG_LEVEL`, `ports.8080/tcp`, `portRanges.8000-8010`, `volumes./data`, `resourceConfig.limits`, `tty`. */
  property: string
  field: ContainerConfigField
  /** The key, port, range or path within the field; absent where the conflict is about the field itself. */
  key?: string
  /** Configurations of the bundles that set it, in the order of the bundles. */
  configIds: string[]
  error: 'ambiguousInConfigs' | 'ambiguousKeyInConfigs'
  description: string
}

/**
 * Finds settings that bundles set differently and that the deployment does not decide (docs/decisions.md#conflicting-bundles). The order of bundles is only for display: where this function
 * finds nothing, every order of the bundles results in the same configuration. Settings that one bundle leaves open and equal settings are no
 * conflict, and neither are secrets, networks and custom headers, which are united.
 *
 * @param deployment the deployment's own layer; it decides the fields and keys that it has, including removed keys (`value: null`)
 */
export function bundleConflicts(
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
): BundleConflict[] {
  if (bundles.length < 2) return []
  const names = new Map(bundles.map(({ configId, name }) => [configId, name]))
  return containerConfigFieldNames.flatMap((field) => {
    if (united.has(field)) return []
    const saying = bundles.filter(({ fields }) => !isUnset(field, fields[field]))
    if (saying.length < 2) return []
    return fieldConflicts(field, saying, deployment).map((found) => toConflict(field, found, names))
  })
}

/** The fields in conflict, each once, for the error of a refused start. */
export const conflictFields = (conflicts: readonly BundleConflict[]): ContainerConfigField[] => [
  ...new Set(conflicts.map(({ field }) => field)),
]

const united: ReadonlySet<string> = new Set(['secrets', 'networks', 'customHeaders'])
/** Objects that are merged as a whole, but whose differing members are reported to the user. */
const sectioned: Partial<Record<ContainerConfigField, readonly string[]>> = {
  resourceConfig: ['limits', 'requests'],
  logConfig: ['driver', 'options'],
}

type Found = { key?: string; configIds: string[] }
type BundleRow<R> = { configId: string; row: R }

function fieldConflicts(
  field: ContainerConfigField,
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
): Found[] {
  if (field === 'volumes') return overlaps(bundles, deployment, ({ volumes }) => volumes, sameVolume)
  if (field === 'portRanges') return overlaps(bundles, deployment, ({ portRanges }) => portRanges, overlappingRanges)
  if (isKeyedField(field)) return byKey(bundles, deployment, (fields) => rowsIn(fields, field))
  if (isMarkerField(field))
    return markerSections.flatMap((section) =>
      byKey(bundles, deployment, (fields) => fields[field]?.[section] ?? [], `${section}.`),
    )
  if (!isUnset(field, deployment[field])) return []
  const values = bundles.map(({ fields }) => toComparable(fields[field]))
  const configIds = bundles.map(({ configId }) => configId)
  if (values.every((value) => sameValue(value, values[0]))) return []
  const sections = (sectioned[field] ?? []).filter((section) => {
    const parts = values.map((value) => toRecord(value)[section])
    return !parts.every((part) => sameValue(part, parts[0]))
  })
  return sections.length > 0 ? sections.map((key) => ({ key, configIds })) : [{ configIds }]
}

function byKey(
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
  getRows: (fields: ContainerConfigFields) => readonly KeyedRow[],
  before = '',
): Found[] {
  const decided = new Set(getRows(deployment).map(rowKey))
  const groups = Map.groupBy(listBundleRows(bundles, getRows), ({ row }) => rowKey(row))
  return [...groups].flatMap(([key, group]) => {
    const [first] = group
    if (decided.has(key) || !first || group.every(({ row }) => sameRow(row, first.row))) return []
    return [{ key: `${before}${key}`, configIds: group.map(({ configId }) => configId) }]
  })
}

/** Conflicts of rows that replace each other although their keys may differ. A conflict is decided once the deployment replaces both. */
function overlaps<R extends KeyedRow>(
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
  getRows: (fields: ContainerConfigFields) => readonly R[] | null | undefined,
  clash: (a: R, b: R) => boolean,
): Found[] {
  const bundleRows = listBundleRows(bundles, getRows)
  const decided = new Set(bundleRows.filter(({ row }) => getRows(deployment)?.some((own) => clash(own, row))))
  const found = new Map<string, Set<string>>()
  bundleRows.forEach((one, index) => {
    for (const other of bundleRows.slice(index + 1)) {
      if (one.configId === other.configId || (decided.has(one) && decided.has(other))) continue
      if (!clash(one.row, other.row) || sameRow(one.row, other.row)) continue
      for (const { row } of [one, other]) {
        const ids = found.get(rowKey(row)) ?? new Set()
        found.set(rowKey(row), ids.add(one.configId).add(other.configId))
      }
    }
  })
  return [...found].map(([key, ids]) => ({
    key,
    configIds: bundles.map(({ configId }) => configId).filter((id) => ids.has(id)),
  }))
}

const listBundleRows = <R>(
  bundles: readonly ConflictingBundle[],
  getRows: (fields: ContainerConfigFields) => readonly R[] | null | undefined,
): BundleRow<R>[] =>
  bundles.flatMap(({ configId, fields }) => (getRows(fields) ?? []).map((row) => ({ configId, row })))

function toConflict(field: ContainerConfigField, found: Found, names: ReadonlyMap<string, string>): BundleConflict {
  const { key, configIds } = found
  const bundleNames = listed(configIds.map((id) => names.get(id) ?? id))
  return {
    property: key === undefined ? field : `${field}.${key}`,
    field,
    ...(key !== undefined && { key }),
    configIds,
    error: key === undefined ? 'ambiguousInConfigs' : 'ambiguousKeyInConfigs',
    description: `${key ?? field} differs between the bundles ${bundleNames}: set it in the deployment`,
  }
}

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** An omitted value means the default: tcp, rwo. */
const defaults = { protocol: 'tcp', type: 'rwo' }
function sameRow(left: KeyedRow, right: KeyedRow): boolean {
  // For a key with a value, an empty text and a removed key are different.
  if ('key' in left) return sameValue(left, right)
  const plain = (row: KeyedRow) => ({ ...defaults, ...toRecord(toComparable(row)) })
  return sameValue(plain(left), plain(right))
}

/** The effective value: without ids, nulls, empty texts and empty containers. */
function toComparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map(toComparable) : undefined
  if (!isRecord(value)) return value === '' || value === null ? undefined : value
  const parts = Object.entries(value).flatMap(([name, inner]) => {
    const kept = name === 'id' ? undefined : toComparable(inner)
    return kept === undefined ? [] : [[name, kept]]
  })
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}
