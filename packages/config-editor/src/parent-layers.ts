import type { ContainerConfig, ContainerConfigFields, ResponseOf } from '@crux/contract'
import { type ConfigLayer, configOrigins, mergeLayers } from '@crux/rules'
import { getFields } from './config-fields.ts'

type Config = ResponseOf<'container-configurations.get'>
type Relations = ResponseOf<'container-configurations.relations'>

/** A layer below the shown one, with its display name. */
export type Layer = ConfigLayer & { name: string; configId: string }
/** The layers below a configuration as one, and which of them sets a part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`). */
export type LowerLayers = {
  fields: ContainerConfigFields
  getOrigin: (part: string) => Layer | undefined
  layers: Layer[]
}

/** The lower layers of a configuration, the lowest first: image, config bundles, deployment. A base layer has none. */
export function listLowerLayers(type: Config['type'], { image, deployment }: Relations): Layer[] {
  const toLayer = (source: Layer['source'], name: string, config: ContainerConfig): Layer[] => [
    { source, name, configId: config.id, fields: getFields(config) },
  ]
  const bundles = (deployment?.configBundles ?? []).flatMap(({ name, config }) =>
    toLayer('config-bundle', name, config),
  )
  if (type === 'deployment') return bundles
  if (type !== 'instance') return []
  return [
    ...(image ? toLayer('image', image.name, image.config) : []),
    ...bundles,
    ...(deployment?.config ? toLayer('deployment', deployment.prefix, deployment.config) : []),
  ]
}

export function mergeLowerLayers(layers: Layer[]): LowerLayers {
  const fields = mergeLayers(layers)
  const origins = configOrigins(fields, layers)
  const byId = new Map(layers.map((layer) => [layer.configId, layer]))
  return { fields, layers, getOrigin: (part) => byId.get(origins.get(part)?.configId ?? '') }
}
