import type { ContainerConfigField, ContainerConfigFields } from '@crux/contract'
import { isKeyedField, isMarkerField, isUnset, markerSections, rowKey } from './config-parts.ts'

type Keyed = { key: string; value?: string | null }
type Secret = NonNullable<ContainerConfigFields['secrets']>[number]
type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
type PortRange = NonNullable<ContainerConfigFields['portRanges']>[number]
type Marker = NonNullable<ContainerConfigFields['labels']>

/**
 * Merges a stronger layer over a weaker one. Layers are merged from the weakest: image, bundles, deployment, instance. Removals (`value: null`) stay
 * in the result, so that they also apply to layers below that are merged later; `finalConfig` drops them.
 *
 * The grouping of layers does not affect the result, except for volumes and port ranges: a row replaces each weaker one that it overlaps, even if a
 * still stronger layer then replaces that row itself. For these, the order from the weakest applies.
 */
export function mergeConfig(weak: ContainerConfigFields, strong: ContainerConfigFields): ContainerConfigFields {
  const result: Record<string, unknown> = { ...weak }
  for (const [name, high] of Object.entries(strong)) {
    const field = name as ContainerConfigField
    const low = weak[field]
    if (isUnset(field, high)) continue
    if (isUnset(field, low)) result[field] = high
    else if (isKeyedField(field)) result[field] = mergeRows(field, low as Keyed[], high as Keyed[])
    else if (isMarkerField(field)) result[field] = mergeMarkers(low as Marker, high as Marker)
    else result[field] = high
  }
  return result as ContainerConfigFields
}

/** Whether a stronger volume replaces a weaker one: a path is mounted once, and a name has one meaning. */
export const sameVolume = (a: Volume, b: Volume): boolean => a.name === b.name || a.path === b.path

/** Whether a stronger range replaces a weaker one. */
export const overlappingRanges = (a: PortRange, b: PortRange): boolean =>
  overlap(a.internal, b.internal) || overlap(a.external, b.external)

export const overlap = (a: { from: number; to: number }, b: { from: number; to: number }): boolean =>
  a.from <= b.to && b.from <= a.to

function mergeRows(field: string, weak: Keyed[], strong: Keyed[]): unknown[] {
  if (strong.length === 0) return weak
  if (weak.length === 0) return strong
  if (field === 'secrets') return mergeSecrets(weak as unknown as Secret[], strong as unknown as Secret[])
  if (field === 'volumes') return mergeVolumes(weak as unknown as Volume[], strong as unknown as Volume[])
  if (field === 'portRanges') return mergeRanges(weak as unknown as PortRange[], strong as unknown as PortRange[])
  const byKey = new Map<string, Keyed>()
  for (const row of strong) byKey.set(rowKey(row), row)
  // The order matters: a container joins the networks of the stronger layer first.
  if (field === 'networks' || field === 'customHeaders')
    return [...strong, ...weak.filter((row) => !byKey.has(rowKey(row)))]
  const rows = weak.map((row) => {
    const name = rowKey(row)
    const mine = byKey.get(name)
    if (!mine) return row
    byKey.delete(name)
    return mine
  })
  for (const row of byKey.values()) rows.push(row)
  return rows
}

/**
 * A key that any layer requires stays required. The value is that of the strongest layer that has one, because a row without a value only names the
 * key.
 */
function mergeSecrets(weak: Secret[], strong: Secret[]): Secret[] {
  const below = new Map(weak.map((row) => [row.key, row]))
  const known = new Set(strong.map((row) => row.key))
  return [
    ...weak.filter((row) => !known.has(row.key)),
    ...strong.map((row) => {
      const other = below.get(row.key)
      if (!other) return row
      const required = row.required || other.required
      if (row.value || !other.value) return { ...row, required }
      return { ...row, required, value: other.value, encrypted: other.encrypted, publicKey: other.publicKey }
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
  const sections = markerSections.map((section) => {
    const low = weak[section]
    const high = strong[section]
    return [section, low && high ? mergeRows('labels', low, high) : (high ?? low)]
  })
  return Object.fromEntries(sections.filter(([, rows]) => rows))
}
