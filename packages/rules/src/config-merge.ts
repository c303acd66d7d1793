import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import { configParts, isKeyedField, isMarkerField, markerSections, rowKey } from './config-parts.ts'

type Keyed = { key: string; value?: string | null }
type Secret = NonNullable<ContainerConfigFields['secrets']>[number]
type Marker = NonNullable<ContainerConfigFields['labels']>

/**
 * Puts a stronger layer over a weaker one (backend.md 4.3, decision 32). Layers fold from the weakest:
 * image, bundles, deployment, instance. Removals (`value: null`) stay in the result, so that they also reach layers below
 * that are merged later; `finalConfig` takes them out.
 */
export function mergeConfig(weak: ContainerConfigFields, strong: ContainerConfigFields): ContainerConfigFields {
  const result: Record<string, unknown> = {}
  for (const field of new Set([...Object.keys(weak), ...Object.keys(strong)]) as Set<keyof ContainerConfigFields>) {
    const low = weak[field]
    const high = strong[field]
    if (isUnset(field, high)) result[field] = low
    else if (isUnset(field, low)) result[field] = high
    else if (isKeyedField(field)) result[field] = mergeRows(field, low as Keyed[], high as Keyed[])
    else if (isMarkerField(field)) result[field] = mergeMarkers(low as Marker, high as Marker)
    else result[field] = high
  }
  return result as ContainerConfigFields
}

export type LayerSource = 'image' | 'config-bundle' | 'deployment' | 'instance'
export type ConfigLayer = { source: LayerSource; name?: string; fields: ContainerConfigFields }
/** Where a part of the final configuration comes from; `default` = set by nobody. */
export type Origin = { source: LayerSource | 'default'; name?: string }

/**
 * What a container shall be: all layers merged, removed keys gone, `{{ versionName }}` filled in, a name in any case.
 *
 * @param input.image the image's own layer
 * @param input.layers the stronger ones, the strongest last
 * @returns the configuration, and by part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`) which layer said so
 */
export function finalConfig(input: {
  image: ContainerConfigFields
  layers: readonly ConfigLayer[]
  imageName: string
  versionName: string
}): { config: FinalContainerConfig; origins: Map<string, Origin> } {
  const all: ConfigLayer[] = [{ source: 'image', fields: input.image }, ...input.layers]
  const merged = all.reduce<ContainerConfigFields>((weak, layer) => mergeConfig(weak, layer.fields), {})
  const filled = (text: string) => text.replace(/\{\{\s*versionName\s*\}\}/g, () => input.versionName)
  const set = <T extends Keyed>(rows: T[] | null | undefined) =>
    (rows ?? []).filter((row): row is T & { value: string } => row.value !== null)
  const config: FinalContainerConfig = {
    ...Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null && value !== undefined)),
    name: merged.name || defaultContainerName(input.imageName),
    environment: set(merged.environment).map((row) => ({ ...row, value: filled(row.value) })),
    dockerLabels: set(merged.dockerLabels),
    ports: merged.ports ?? [],
    portRanges: merged.portRanges ?? [],
    volumes: (merged.volumes ?? []).map((row) => ({ ...row, type: row.type ?? 'rwo' })),
    commands: merged.commands ?? [],
    args: merged.args ?? [],
    networks: merged.networks ?? [],
    secrets: (merged.secrets ?? []).filter((row) => row.value || row.required),
    ...(merged.storage && {
      storage: {
        ...merged.storage,
        bucket: merged.storage.bucket && filled(merged.storage.bucket),
        path: merged.storage.path && filled(merged.storage.path),
      },
    }),
    ...(merged.extraLBAnnotations && { extraLBAnnotations: set(merged.extraLBAnnotations) }),
    ...(merged.labels && { labels: finalMarkers(merged.labels) }),
    ...(merged.annotations && { annotations: finalMarkers(merged.annotations) }),
  }
  return { config, origins: originsOf(config, all) }
}

/** The last part of an image's name, made a DNS label: `group/My_App` becomes `my-app`. */
export function defaultContainerName(imageName: string): string {
  const last = imageName.slice(imageName.lastIndexOf('/') + 1).replace(/[@:].*$/, '')
  const label = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
  return label || 'container'
}

/** Required secrets that no layer gives an encrypted value (decision 33). */
export const missingSecrets = (config: FinalContainerConfig): string[] =>
  config.secrets.filter((secret) => secret.required && !secret.value).map((secret) => secret.key)

function originsOf(config: FinalContainerConfig, layers: readonly ConfigLayer[]): Map<string, Origin> {
  const strongestFirst = layers.map((layer) => ({ layer, parts: configParts(layer.fields) })).reverse()
  const origins = new Map<string, Origin>()
  for (const part of configParts(config).keys()) {
    const found = strongestFirst.find(({ layer, parts }) => {
      const field = part as keyof ContainerConfigFields
      return parts.has(part) && !(field in layer.fields && isUnset(field, layer.fields[field]))
    })
    if (!found) origins.set(part, { source: 'default' })
    else origins.set(part, { source: found.layer.source, ...(found.layer.name && { name: found.layer.name }) })
  }
  return origins
}

/** `args` and `commands` that are empty do not count as set, nor an empty name, nor user -1 (decision 32). */
function isUnset(field: keyof ContainerConfigFields, value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (field === 'args' || field === 'commands') return (value as unknown[]).length === 0
  if (field === 'user') return value === -1
  return field === 'name' && value === ''
}

function mergeRows(field: string, weak: Keyed[], strong: Keyed[]): unknown[] {
  if (field === 'secrets') return mergeSecrets(weak as unknown as Secret[], strong as unknown as Secret[])
  if (field === 'volumes') return [...strong, ...weak.filter((row) => !strong.some((other) => sameVolume(row, other)))]
  if (field === 'portRanges') return [...strong, ...weak.filter((row) => !strong.some((other) => overlaps(row, other)))]
  const byKey = new Map(strong.map((row) => [rowKey(row), row]))
  if (field === 'networks' || field === 'customHeaders')
    return [...strong, ...weak.filter((row) => !byKey.has(rowKey(row)))]
  const replaced = weak.map((row) => byKey.get(rowKey(row)) ?? row)
  const known = new Set(weak.map(rowKey))
  return [...replaced, ...strong.filter((row) => !known.has(rowKey(row)))]
}

/** A key that a base layer requires stays required; values come from the stronger layer (backend.md 4.7). */
function mergeSecrets(weak: Secret[], strong: Secret[]): Secret[] {
  const base = new Map(weak.map((row) => [row.key, row]))
  const known = new Set(strong.map((row) => row.key))
  return [
    ...weak.filter((row) => !known.has(row.key)),
    ...strong.map((row) => ({ ...row, required: row.required || (base.get(row.key)?.required ?? false) })),
  ]
}

function mergeMarkers(weak: Marker, strong: Marker): Marker {
  const sections = markerSections.map((section) => {
    const low = weak[section]
    const high = strong[section]
    return [section, low && high ? mergeRows('labels', low, high) : (high ?? low)]
  })
  return Object.fromEntries(sections.filter(([, rows]) => rows))
}

function finalMarkers(marker: Marker): Marker {
  return Object.fromEntries(
    markerSections.flatMap((section) => {
      const rows = marker[section]
      return rows ? [[section, rows.filter((row) => row.value !== null)]] : []
    }),
  )
}

function sameVolume(left: unknown, right: unknown): boolean {
  const a = left as { name: string; path: string }
  const b = right as { name: string; path: string }
  return a.name === b.name || a.path === b.path
}

function overlaps(left: unknown, right: unknown): boolean {
  type Ranges = Record<'internal' | 'external', { from: number; to: number }>
  const a = left as Ranges
  const b = right as Ranges
  return (['internal', 'external'] as const).some((side) => a[side].from <= b[side].to && b[side].from <= a[side].to)
}
