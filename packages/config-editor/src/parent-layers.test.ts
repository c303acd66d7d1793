import type { ContainerConfigFields, ResponseOf } from '@crux/contract'
import { expect, it } from 'vitest'
import { listLowerLayers, mergeLowerLayers } from './parent-layers.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const config = (number: number, type: 'image' | 'config-bundle' | 'deployment', fields: ContainerConfigFields) => ({
  id: id(number),
  type,
  ...fields,
})
const env = (key: string, value: string) => ({ environment: [{ id: id(9), key, value }] })
const relations = {
  image: {
    id: id(1),
    name: 'acme/api',
    tag: '1',
    registry: { id: id(2), name: 'r' },
    config: config(3, 'image', env('A', 'image')),
  },
  deployment: {
    id: id(4),
    prefix: 'shop',
    status: 'preparing',
    mutable: true,
    node: { id: id(5), name: 'node', type: 'docker' as const },
    config: config(6, 'deployment', { ...env('A', 'deployment'), tty: true }),
    configBundles: [{ id: id(7), name: 'region-eu', config: config(8, 'config-bundle', env('REGION', 'eu')) }],
    instances: [],
  },
} satisfies ResponseOf<'container-configurations.relations'>

it('mergeLowerLayers merges the deployment over its config bundles and these over the image, with the origin of each value', () => {
  const below = mergeLowerLayers(listLowerLayers('instance', relations))
  expect(below.fields.environment?.map(({ key, value }) => `${key}=${value}`)).toEqual(['A=deployment', 'REGION=eu'])
  expect(below.getOrigin('environment.A')).toMatchObject({ source: 'deployment', name: 'shop', configId: id(6) })
  expect(below.getOrigin('environment.REGION')).toMatchObject({ source: 'config-bundle', name: 'region-eu' })
  expect(below.getOrigin('tty')?.source).toBe('deployment')
  expect(below.getOrigin('name')).toBeUndefined()
})

it('listLowerLayers returns only config bundles below a deployment and no layers below a base layer', () => {
  expect(listLowerLayers('deployment', relations).map((layer) => layer.name)).toEqual(['region-eu'])
  expect(listLowerLayers('image', relations)).toEqual([])
  expect(listLowerLayers('config-bundle', relations)).toEqual([])
})
