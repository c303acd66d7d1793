import type { ContainerConfigField, ContainerConfigFields, ContainerConfigType } from '@crux/contract'
import { mergeConfig } from './config-merge.ts'
import { isKeyedField, isMarkerField, isUnset, markerSections, rowKey } from './config-parts.ts'

/** `name` is the bundle's, image's or deployment's: what a person knows the layer by. */
export type ConfigLayer = {
  source: ContainerConfigType
  name?: string | undefined
  configId?: string | undefined
  fields: ContainerConfigFields
}
/** Where a part of a configuration comes from; `default` = set by nobody. */
export type Origin = { source: ContainerConfigType | 'default'; name?: string; configId?: string }

/** All layers merged, the weakest first; removed keys are still in it (`value: null`). */
export const mergeLayers = (layers: readonly ConfigLayer[]): ContainerConfigFields =>
  layers.reduce<ContainerConfigFields>((weak, layer) => mergeConfig(weak, layer.fields), {})

/**
 * By part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`) the strongest layer that says it.
 *
 * @param config the layers merged: parts that it does not have are left out, those that no layer says are of `default`
 */
export function configOrigins(config: ContainerConfigFields, layers: readonly ConfigLayer[]): Map<string, Origin> {
  const said = new Map<string, Origin>()
  for (const { source, name, configId, fields } of layers) {
    const origin: Origin = { source, ...(name && { name }), ...(configId && { configId }) }
    // A secret comes from where its value comes from; a row without one only names the key.
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
  for (const [name, value] of Object.entries(fields)) {
    const field = name as ContainerConfigField
    if (leftOut(field, value)) continue
    if (isKeyedField(field)) for (const row of value as { key: string }[]) yield `${field}.${rowKey(row)}`
    else if (isMarkerField(field)) {
      for (const section of markerSections)
        for (const row of fields[field]?.[section] ?? []) yield `${field}.${section}.${row.key}`
    } else yield field
  }
}
