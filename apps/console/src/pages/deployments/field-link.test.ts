import type { ResponseOf } from '@crux/contract'
import { expect, it } from 'vitest'
import { type Problem, problemLink } from './field-link.ts'

const deployment = {
  config: { id: 'own' },
  configBundles: [{ configId: 'first' }, { configId: 'second' }],
  instances: [{ id: 'i', config: { id: 'instance' } }],
} as unknown as ResponseOf<'deployments.get'>

const toPlace = (problem: Partial<Problem> & { property: string }) => {
  const link = problemLink('acme', deployment, { error: 'invalidArgument', description: '', ...problem })
  return link && [link.params.configId, link.hash]
}

it('links a problem to the field of the layer that can fix it', () => {
  expect(toPlace({ property: 'environment.LEVEL', error: 'ambiguousKeyInConfigs' })).toEqual([
    'own',
    'environment.LEVEL',
  ])
  expect(toPlace({ property: 'config.volumes[0].path' })).toEqual(['own', 'volumes[0].path'])
  expect(toPlace({ property: 'configBundles[1].config.ports[0].internal' })).toEqual(['second', 'ports[0].internal'])
  expect(toPlace({ property: 'instances[0].config.secrets.KEY', instanceId: 'i' })).toEqual(['instance', 'secrets.KEY'])
})

it('returns null for a problem outside of configurations', () => {
  expect(toPlace({ property: 'protectedDeploymentId' })).toBeNull()
  expect(toPlace({ property: 'instances[4].config.name', instanceId: 'gone' })).toBeNull()
  expect(toPlace({ property: 'configBundles[9].config.name' })).toBeNull()
})
