import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import {
  fieldsIn,
  isUnset,
  type KeyedField,
  type MarkerField,
  markerSections,
  type RowWithKey,
  rowKey,
} from './config-parts.ts'

type FieldValue<F extends ContainerConfigField> = NonNullable<ContainerConfigFields[F]>
type Merge<F extends ContainerConfigField> = (weak: FieldValue<F>, strong: FieldValue<F>) => FieldValue<F>
type Secret = FieldValue<'secrets'>[number]
type Volume = FieldValue<'volumes'>[number]
type PortRange = FieldValue<'portRanges'>[number]
type Marker = FieldValue<MarkerField>

/**
 * Merges a stronger layer over a weaker one. Layers are merged from the weakest: image, bundles, deployment, instance. Removals (`value: null`) stay
 * in the result, so that they also apply to layers below that are merged later; `finalConfig` drops them (docs/decisions.md#merging-layers).
 *
 * The grouping of layers does not affect the result, except for volumes and port ranges: a row replaces each weaker one that it overlaps, even if a
 * still stronger layer then replaces that row itself. For these, the order from the weakest applies.
 */
export function mergeConfig(weak: ContainerConfigFields, strong: ContainerConfigFields): ContainerConfigFields {
  const result = { ...weak }
  for (const field of fieldsIn(strong)) mergeField(result, field, strong[field])
  return result
}

function mergeField<F extends ContainerConfigField>(
  result: ContainerConfigFields,
  field: F,
  high: ContainerConfigFields[F],
): void {
  if (isUnset(field, high)) return
  const low = result[field]
  const merge = mergers[field]
  result[field] = merge && high && low ? merge(low, high) : high
}

/** Whether a stronger volume replaces a weaker one: a path is mounted once, and a name has one meaning. */
export const sameVolume = (a: Volume, b: Volume): boolean => a.name === b.name || a.path === b.path

/** Whether a stronger range replaces a weaker one. */
export const overlappingRanges = (a: PortRange, b: PortRange): boolean =>
  overlap(a.internal, b.internal) || overlap(a.external, b.external)

export const overlap = (a: { from: number; to: number }, b: { from: number; to: number }): boolean =>
  a.from <= b.to && b.from <= a.to

/** Rows of the stronger layer replace those with the same key, in the order of the weaker layer. */
function mergeByKey<R extends RowWithKey>(weak: R[], strong: R[]): R[] {
  const byKey = new Map(strong.map((row) => [rowKey(row), row]))
  const rows = weak.map((row) => {
    const name = rowKey(row)
    const mine = byKey.get(name)
    byKey.delete(name)
    return mine ?? row
  })
  return [...rows, ...byKey.values()]
}

/** The order matters: a container joins the networks of the stronger layer first. */
function mergeStrongFirst<R extends RowWithKey>(weak: R[], strong: R[]): R[] {
  const known = new Set(strong.map(rowKey))
  return [...strong, ...weak.filter((row) => !known.has(rowKey(row)))]
}

/**
 * A key that any layer requires stays required. The value is that of the strongest layer that has one, because a row without a value only names the
 * key. The group of generated values is that of the strongest layer that names one.
 */
function mergeSecrets(weak: Secret[], strong: Secret[]): Secret[] {
  const below = new Map(weak.map((row) => [row.key, row]))
  const known = new Set(strong.map((row) => row.key))
  return [
    ...weak.filter((row) => !known.has(row.key)),
    ...strong.map((row) => {
      const other = below.get(row.key)
      if (!other) return row
      const generate = row.generate ?? other.generate
      const named = { ...row, required: row.required || other.required, ...(generate && { generate }) }
      if (row.value || !other.value) return named
      return { ...named, value: other.value, encrypted: other.encrypted, publicKey: other.publicKey }
    }),
  ]
}

function mergeVolumes(weak: Volume[], strong: Volume[]): Volume[] {
  const names = new Set(strong.map((row) => row.name))
  const paths = new Set(strong.map((row) => row.path))
  return [...strong, ...weak.filter((row) => !names.has(row.name) && !paths.has(row.path))]
}

const mergeRanges = (weak: PortRange[], strong: PortRange[]): PortRange[] => [
  ...strong,
  ...weak.filter((row) => !strong.some((other) => overlappingRanges(row, other))),
]

function mergeMarkers(weak: Marker, strong: Marker): Marker {
  const result = { ...weak }
  for (const section of markerSections) {
    const [low, high] = [weak[section], strong[section]]
    if (high) result[section] = low ? mergeByKey(low, high) : high
  }
  return result
}

const keyedMergers: { [F in KeyedField | MarkerField]: Merge<F> } = {
  environment: mergeByKey,
  secrets: mergeSecrets,
  capabilities: mergeByKey,
  ulimits: mergeByKey,
  extraHosts: mergeByKey,
  dockerLabels: mergeByKey,
  extraLBAnnotations: mergeByKey,
  networks: mergeStrongFirst,
  customHeaders: mergeStrongFirst,
  ports: mergeByKey,
  portRanges: mergeRanges,
  volumes: mergeVolumes,
  labels: mergeMarkers,
  annotations: mergeMarkers,
}
/** Fields without an entry are replaced as a whole. */
const mergers: { [F in ContainerConfigField]?: Merge<F> } = keyedMergers
