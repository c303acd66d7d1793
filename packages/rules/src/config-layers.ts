import type { ContainerConfigField, ContainerConfigFields, ContainerConfigType } from '@crux/contract'
import { mergeConfig } from './config-merge.ts'
import { fieldsIn, isKeyedField, isMarkerField, isUnset, markerSections, rowKey, rowsIn } from './config-parts.ts'

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
  const said = new Map<string, Origin>()
  for (const { source, name, configId, fields } of layers) {
    const origin: Origin = { source, ...(name && { name }), ...(configId && { configId }) }
    // The origin of a secret is the origin of its value; a row without a value only names the key.
    const valueless = new Set((fields.secrets ?? []).filter((row) => !row.value).map((row) => `secrets.${row.key}`))
    for (const path of partPaths(fields, isUnset)) if (!valueless.has(path) || !said.has(path)) said.set(path, origin)
  }
  const origins = new Map<string, Origin>()
  const absent = (_: ContainerConfigField, value: unknown) => value === null || value === undefined
  for (const path of partPaths(config, absent)) origins.set(path, said.get(path) ?? { source: 'default' })
  return origins
}

function* partPaths(
  fields: ContainerConfigFields,
  leftOut: (field: ContainerConfigField, value: unknown) => boolean,
): Generator<string> {
  for (const field of fieldsIn(fields)) {
    if (leftOut(field, fields[field])) continue
    if (isKeyedField(field)) for (const row of rowsIn(fields, field)) yield `${field}.${rowKey(row)}`
    else if (isMarkerField(field)) {
      for (const section of markerSections)
        for (const row of fields[field]?.[section] ?? []) yield `${field}.${section}.${row.key}`
    } else yield field
  }
}
