import type { ContainerConfigFields, ResponseOf } from '@crux/contract'
import { expect, it } from 'vitest'
import { secretSources } from './secret-sources.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const config = (number: number, type: 'image' | 'config-bundle' | 'deployment', ...keys: string[]) => {
  const fields: ContainerConfigFields = { secrets: keys.map((key) => ({ key, required: false })) }
  return { id: id(number), type, ...fields }
}
const relations = {
  image: {
    id: id(1),
    name: 'acme/api',
    tag: '1',
    registry: { id: id(2), name: 'r' },
    config: config(3, 'image', 'TOKEN', 'OTHER'),
  },
  deployment: {
    id: id(4),
    prefix: 'shop',
    status: 'preparing',
    mutable: true,
    node: { id: id(5), name: 'node', type: 'docker' as const },
    config: config(6, 'deployment', 'TOKEN'),
    configBundles: [
      { id: id(7), name: 'region-eu', config: config(8, 'config-bundle', 'TOKEN') },
      { id: id(9), name: 'quiet', config: config(10, 'config-bundle', 'OTHER') },
    ],
    instances: [
      {
        id: id(11),
        configId: id(12),
        imageName: 'acme/api',
        containerName: 'api',
        imageConfigId: id(3),
        secretKeys: [],
        imageSecretKeys: ['TOKEN', 'OTHER'],
      },
      {
        id: id(13),
        configId: id(14),
        imageName: 'acme/web',
        containerName: 'web',
        imageConfigId: id(15),
        secretKeys: ['TOKEN'],
        imageSecretKeys: [],
      },
    ],
  },
} satisfies ResponseOf<'container-configurations.relations'>
const words = (type: Parameters<typeof secretSources>[1]) =>
  secretSources('TOKEN', type, relations).map(({ source, name, configId }) => [`${source} ${name}`, configId])

it('secretSources names all layers of an instance that ask for a key, the weakest first', () => {
  expect(words('instance')).toEqual([
    ['image acme/api', id(3)],
    ['config-bundle region-eu', id(8)],
    ['deployment shop', id(6)],
  ])
})

it('secretSources names the images and instances of a deployment beside its bundles', () => {
  expect(words('deployment')).toEqual([
    ['image api', id(3)],
    ['config-bundle region-eu', id(8)],
    ['instance web', id(14)],
  ])
  expect(words('image')).toEqual([])
})
