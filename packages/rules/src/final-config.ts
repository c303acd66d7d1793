import type { ContainerConfigFields, ContainerConfigType, FinalContainerConfig } from '@crux/contract'
import { mergeConfig } from './config-merge.ts'
import { isUnset, markerSections, partPaths } from './config-parts.ts'

type Marker = NonNullable<ContainerConfigFields['labels']>

type FinalConfigInput = {
  /** The layer of the image, and the id of its configuration where origins are needed. */
  image: ContainerConfigFields
  imageConfigId?: string | undefined
  /** The stronger layers: bundles in the order of the page, deployment, instance. */
  layers: readonly ConfigLayer[]
  imageName: string
  versionName: string
}

/**
 * The configuration of a container: all layers merged, removed keys dropped, `{{ versionName }}` replaced, always with a name.
 *
 * @returns the configuration; `origins` returns the layer of origin by part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`). It is a function
 * because a start does not need it, and it costs as much as the merge.
 */
export function finalConfig(input: FinalConfigInput): {
  config: FinalContainerConfig
  origins: () => Map<string, Origin>
} {
  const { image, imageName, imageConfigId } = input
  const layers: ConfigLayer[] = [
    { source: 'image', name: imageName, configId: imageConfigId, fields: image },
    ...input.layers,
  ]
  const config = completed(mergeLayers(layers), input)
  return { config, origins: () => configOrigins(config, layers) }
}

/** The last part of the name of an image as a DNS label: `group/My_App` becomes `my-app`. */
export function defaultContainerName(imageName: string): string {
  const last = imageName.slice(imageName.lastIndexOf('/') + 1).replace(/[@:].*$/, '')
  const label = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
  return label || 'container'
}

/** Required secrets for which no layer has an encrypted value. */
export const missingSecrets = (config: FinalContainerConfig): string[] =>
  config.secrets.filter((secret) => secret.required && !secret.value).map((secret) => secret.key)

function completed(merged: ContainerConfigFields, input: FinalConfigInput): FinalContainerConfig {
  const filled = (text: string) =>
    text.includes('{{') ? text.replace(/\{\{\s*versionName\s*\}\}/g, () => input.versionName) : text
  const { name, storage, extraLBAnnotations, labels, annotations, user, shmSize, workingDirectory, ...rest } = merged
  const config: FinalContainerConfig = {
    ...withoutUnset(rest),
    ...(user !== undefined && user !== null && user !== -1 && { user }),
    ...(shmSize && { shmSize }),
    ...(workingDirectory && { workingDirectory }),
    name: name || defaultContainerName(input.imageName),
    environment: kept(merged.environment).map((row) => {
      const value = filled(row.value)
      return value === row.value ? row : { ...row, value }
    }),
    dockerLabels: kept(merged.dockerLabels),
    ports: merged.ports ?? [],
    portRanges: merged.portRanges ?? [],
    volumes: (merged.volumes ?? []).map((row) => ({ ...row, type: row.type ?? 'rwo' })),
    commands: merged.commands ?? [],
    args: merged.args ?? [],
    networks: merged.networks ?? [],
    // How a value came about is of no concern to the container.
    secrets: (merged.secrets ?? []).flatMap(({ generate: _, ...row }) => (row.value || row.required ? [row] : [])),
  }
  if (storage)
    config.storage = {
      ...storage,
      bucket: storage.bucket && filled(storage.bucket),
      path: storage.path && filled(storage.path),
    }
  if (extraLBAnnotations) config.extraLBAnnotations = kept(extraLBAnnotations)
  if (labels) config.labels = keptMarkers(labels)
  if (annotations) config.annotations = keptMarkers(annotations)
  return config
}

const withoutUnset = (fields: ContainerConfigFields): ContainerConfigFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

/** The rows without those that are removed by `value: null`. */
function kept<T extends { value: string | null }>(rows: T[] | null | undefined): (T & { value: string })[] {
  return (rows ?? []).filter((row): row is T & { value: string } => row.value !== null)
}

const keptMarkers = (marker: Marker): Marker =>
  Object.fromEntries(
    markerSections.flatMap((section) => {
      const rows = marker[section]
      return rows ? [[section, kept(rows)]] : []
    }),
  )

/** `name` is that of the bundle, image or deployment, by which users know the layer. */
export type ConfigLayer = {
  source: ContainerConfigType
  name?: string | undefined
  configId?: string | undefined
  fields: ContainerConfigFields
}
/** The origin of a part of a configuration; `default` = no layer sets it. */
export type Origin = { source: ContainerConfigType | 'default'; name?: string; configId?: string }

/** Merges all layers, the weakest first. Removed keys stay in the result (`value: null`). */
export const mergeLayers = (layers: readonly ConfigLayer[]): ContainerConfigFields =>
  layers.reduce<ContainerConfigFields>((weak, layer) => mergeConfig(weak, layer.fields), {})

/**
 * By part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`) the strongest layer that sets it.
 *
 * @param config the merged layers: parts that it does not have are omitted, and parts that no layer sets have the origin `default`
 */
export function configOrigins(config: ContainerConfigFields, layers: readonly ConfigLayer[]): Map<string, Origin> {
  const sources = new Map<string, Origin>()
  for (const { source, name, configId, fields } of layers) {
    const origin: Origin = { source, ...(name && { name }), ...(configId && { configId }) }
    // The origin of a secret is the origin of its value; a row without a value only names the key.
    const valueless = new Set((fields.secrets ?? []).filter((row) => !row.value).map((row) => `secrets.${row.key}`))
    for (const { path, field } of partPaths(fields))
      if (!isUnset(field, fields[field]) && (!valueless.has(path) || !sources.has(path))) sources.set(path, origin)
  }
  const origins = new Map<string, Origin>()
  for (const { path } of partPaths(config)) origins.set(path, sources.get(path) ?? { source: 'default' })
  return origins
}
