import type { RegistryType } from '@crux/contract'
import { expect, test } from 'vitest'
import { matchRegistry } from './match-registry.ts'

const registry = (id: string, type: RegistryType, url: string, prefix = '') => ({
  id,
  type,
  url,
  imageUrlPrefix: [url.replace(/^[a-z]+:\/\//, ''), prefix].filter(Boolean).join('/'),
})
const registries = [
  registry('library', 'hub', 'hub.docker.com', 'library'),
  registry('any hub', 'unchecked', 'docker.io'),
  registry('v2', 'v2', 'http://registry.example.com:5000'),
  registry('v2 apps', 'v2', 'registry.example.com:5000', 'apps'),
  registry('gitlab', 'gitlab', 'registry.gitlab.com', 'acme/shop'),
  registry('github', 'github', 'ghcr.io', 'acme'),
  registry('local', 'unchecked', ''),
]

test.each([
  ['docker.io/library/nginx', 'library', 'nginx'],
  ['docker.io/grafana/loki', 'any hub', 'grafana/loki'],
  ['registry.example.com:5000/web', 'v2', 'web'],
  ['registry.example.com:5000/apps/web', 'v2 apps', 'web'],
  ['registry.example.com:5000/appstore/web', 'v2', 'appstore/web'],
  ['registry.gitlab.com/acme/shop/api', 'gitlab', 'acme/shop/api'],
  ['ghcr.io/acme/web', 'github', 'web'],
])('finds the registry of %s by the longest prefix', (name, id, imageName) => {
  expect(matchRegistry(name, registries)).toEqual({ registry: registries.find((one) => one.id === id), imageName })
})

test('finds nothing for a host or an owner that no registry has', () => {
  expect(matchRegistry('ghcr.io/acmebank/web', registries)).toBeUndefined()
  expect(matchRegistry('quay.io/acme/web', registries)).toBeUndefined()
})

test('prefers a registry that can be listed over an unchecked one with the same prefix', () => {
  const same = [registry('plain', 'unchecked', 'ghcr.io'), registry('listed', 'v2', 'ghcr.io')]
  expect(matchRegistry('ghcr.io/a/b', same)?.registry.id).toBe('listed')
})
