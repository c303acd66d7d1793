import type { ContainerConfigType, ResponseOf } from '@crux/contract'
import { type Layer, listLowerLayers } from './parent-layers.ts'

/** A layer that names a key, with its display name. */
export type SecretSource = Pick<Layer, 'source' | 'name' | 'configId'>

/**
 * Every other layer that names a secret. A deployment's own layer lies between those of its images and of its instances: it gives
 * a value to what either of them asks for, so that both are named.
 */
export function secretSources(
  key: string,
  type: ContainerConfigType,
  relations: ResponseOf<'container-configurations.relations'>,
): SecretSource[] {
  const below = listLowerLayers(type, relations)
    .filter(({ fields }) => fields.secrets?.some((row) => row.key === key))
    .map(({ source, name, configId }): SecretSource => ({ source, name, configId }))
  if (type !== 'deployment') return below
  const instances = relations.deployment?.instances ?? []
  const ofImages = instances.flatMap(({ imageConfigId, imageSecretKeys, containerName }): SecretSource[] =>
    imageConfigId && imageSecretKeys?.includes(key)
      ? [{ source: 'image', name: containerName, configId: imageConfigId }]
      : [],
  )
  const ofInstances = instances.flatMap(({ configId, secretKeys, containerName }): SecretSource[] =>
    secretKeys?.includes(key) ? [{ source: 'instance', name: containerName, configId }] : [],
  )
  return [...ofImages, ...below, ...ofInstances]
}
