import type { ContainerConfigFields, ResponseOf } from '@crux/contract'
import { type ConfigLayer, configOrigins, mergeLayers } from '@crux/rules'
import { fieldsOf } from './config-fields.ts'

type Config = ResponseOf<'container-configurations.get'>
type Relations = ResponseOf<'container-configurations.relations'>

/** A layer below the shown one, with its display name. */
export type Layer = ConfigLayer & { name: string; configId: string }
/** The layers below a configuration as one, and which of them sets a part (`environment.LOG_LEVEL`, `ports.8080/tcp`, `name`). */
export type Below = { fields: ContainerConfigFields; originOf: (part: string) => Layer | undefined; layers: Layer[] }

/** The lower layers of a configuration, the lowest first: image, config bundles, deployment. A base layer has none. */
export function layersBelow(type: Config['type'], { image, deployment }: Relations): Layer[] {
  const bundles = (deployment?.configBundles ?? []).map(
    ({ name, config }): Layer => ({ source: 'config-bundle', name, configId: config.id, fields: fieldsOf(config) }),
  )
  if (type === 'deployment') return bundles
  if (type !== 'instance') return []
  const layers: Layer[] = []
  if (image)
    layers.push({ source: 'image', name: image.name, configId: image.config.id, fields: fieldsOf(image.config) })
  layers.push(...bundles)
  if (deployment?.config)
    layers.push({
      source: 'deployment',
      name: deployment.prefix,
      configId: deployment.config.id,
      fields: fieldsOf(deployment.config),
    })
  return layers
}

export function mergeBelow(layers: Layer[]): Below {
  const fields = mergeLayers(layers)
  const origins = configOrigins(fields, layers)
  const byId = new Map(layers.map((layer) => [layer.configId, layer]))
  return { fields, layers, originOf: (part) => byId.get(origins.get(part)?.configId ?? '') }
}
