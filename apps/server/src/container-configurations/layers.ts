import { ContainerConfigFields, type FinalContainerConfig } from '@crux/contract'
import { type ConfigLayer, finalConfig } from '@crux/rules'
import type { ConfigRow } from './config-row.ts'
import type { AttachedBundle, OwnedConfig } from './store.ts'

type Layer = Pick<ConfigRow, 'id' | 'fields'>

/** The layers over an image's own, the weakest first: bundles in their order, deployment, instance. */
export const layersOver = (
  deployment: { prefix: string; config: Layer; bundles: readonly AttachedBundle[] },
  instance: Layer,
): ConfigLayer[] => [
  ...deployment.bundles.map((bundle) => toLayer('config-bundle', bundle.config, bundle.name)),
  toLayer('deployment', deployment.config, deployment.prefix),
  toLayer('instance', instance),
]

/** The merged configuration of an instance's container; undefined for a layer that is no instance's. */
export function finalOfInstance(config: OwnedConfig): FinalContainerConfig | undefined {
  const { row, image, imageConfig, deployment, version } = config
  if (!image || !imageConfig || !deployment || !version || row.type !== 'instance') return undefined
  return finalConfig({
    image: ContainerConfigFields.parse(imageConfig.fields),
    layers: layersOver(deployment, row),
    imageName: image.name,
    versionName: version.name,
  }).config
}

const toLayer = (source: ConfigLayer['source'], { id, fields }: Layer, name?: string): ConfigLayer => ({
  source,
  configId: id,
  ...(name && { name }),
  fields: ContainerConfigFields.parse(fields),
})
