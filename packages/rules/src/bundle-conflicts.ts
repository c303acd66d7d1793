import { type ContainerConfigField, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { overlappingRanges, sameVolume } from './config-merge.ts'
import { isKeyedField, isMarkerField, isUnset, markerSections, rowKey, sameValue } from './config-parts.ts'

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
 * Finds settings that bundles set differently and that the deployment does not decide. The order of bundles is only for display: where this function
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
    return fieldConflicts(field, saying, deployment).map((found) => inWords(field, found, names))
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
type Row = { key: string }
type Said = { configId: string; row: Row }

function fieldConflicts(
  field: ContainerConfigField,
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
): Found[] {
  if (field === 'volumes' || field === 'portRanges') return overlaps(field, bundles, deployment)
  if (isKeyedField(field)) return byKey(rowsOf(bundles, field), new Set(rowsIn(deployment, field).map(rowKey)), '')
  if (isMarkerField(field))
    return markerSections.flatMap((section) => {
      const said = bundles.flatMap(({ configId, fields }) =>
        (fields[field]?.[section] ?? []).map((row) => ({ configId, row })),
      )
      return byKey(said, new Set((deployment[field]?.[section] ?? []).map(rowKey)), `${section}.`)
    })
  if (!isUnset(field, deployment[field])) return []
  const values = bundles.map(({ fields }) => essence(fields[field]))
  const configIds = bundles.map(({ configId }) => configId)
  if (values.every((value) => sameValue(value, values[0]))) return []
  const sections = (sectioned[field] ?? []).filter((section) => {
    const parts = values.map((value) => (value as Record<string, unknown> | undefined)?.[section])
    return !parts.every((part) => sameValue(part, parts[0]))
  })
  return sections.length > 0 ? sections.map((key) => ({ key, configIds })) : [{ configIds }]
}

function byKey(said: readonly Said[], decided: ReadonlySet<string>, before: string): Found[] {
  const groups = new Map<string, Said[]>()
  for (const one of said) {
    const key = rowKey(one.row)
    if (decided.has(key)) continue
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups].flatMap(([key, group]) => {
    const [first] = group
    if (!first || group.every(({ row }) => sameRow(row, first.row))) return []
    return [{ key: `${before}${key}`, configIds: group.map(({ configId }) => configId) }]
  })
}

/** Whether rows replace each other although their keys may differ. The conflict is decided once the deployment replaces both. */
function overlaps(
  field: 'volumes' | 'portRanges',
  bundles: readonly ConflictingBundle[],
  deployment: ContainerConfigFields,
): Found[] {
  const clash = (a: Row, b: Row) =>
    field === 'volumes' ? sameVolume(a as never, b as never) : overlappingRanges(a as never, b as never)
  const said = rowsOf(bundles, field)
  const decided = new Set(said.filter(({ row }) => rowsIn(deployment, field).some((own) => clash(own, row))))
  const found = new Map<string, Set<string>>()
  said.forEach((one, index) => {
    for (const other of said.slice(index + 1)) {
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

function inWords(field: ContainerConfigField, found: Found, names: ReadonlyMap<string, string>): BundleConflict {
  const { key, configIds } = found
  const who = listed(configIds.map((id) => names.get(id) ?? id))
  return {
    property: key === undefined ? field : `${field}.${key}`,
    field,
    ...(key !== undefined && { key }),
    configIds,
    error: key === undefined ? 'ambiguousInConfigs' : 'ambiguousKeyInConfigs',
    description: `${key ?? field} differs between the bundles ${who}: set it in the deployment`,
  }
}

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

const rowsIn = (fields: ContainerConfigFields, field: ContainerConfigField): Row[] =>
  (fields[field] ?? []) as unknown as Row[]
const rowsOf = (bundles: readonly ConflictingBundle[], field: ContainerConfigField): Said[] =>
  bundles.flatMap(({ configId, fields }) => rowsIn(fields, field).map((row) => ({ configId, row })))

/** An omitted value means the default: tcp, rwo. */
const defaults = { protocol: 'tcp', type: 'rwo' }
function sameRow(left: Row, right: Row): boolean {
  // For a key with a value, an empty text and a removed key are different.
  if ('key' in left) return sameValue(left, right)
  const plain = (row: Row) => ({ ...defaults, ...(essence(row) as object) })
  return sameValue(plain(left), plain(right))
}

/** The effective value: without ids, nulls, empty texts and empty containers. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map(essence) : undefined
  if (typeof value !== 'object' || value === null) return value === '' || value === null ? undefined : value
  const parts = Object.entries(value).flatMap(([name, inner]) => {
    const kept = name === 'id' ? undefined : essence(inner)
    return kept === undefined ? [] : [[name, kept]]
  })
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}
