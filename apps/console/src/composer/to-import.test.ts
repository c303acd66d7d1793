import { expect, test } from 'vitest'
import type { ServiceResult } from './compose-result.ts'
import { findServiceProblems, toImportedImages } from './to-import.ts'

const makeService = (service: string, registry: ServiceResult['registry']): ServiceResult => ({
  service,
  reference: `${service}:1`,
  name: `docker.io/library/${service}`,
  tag: '1',
  position: { file: 'compose.yaml', line: 1, column: 1 },
  config: { name: service },
  registry,
  host: 'docker.io',
  dangers: [],
  problems: [],
  notKept: [],
  json: '{}',
})
const services = [
  makeService('web', { id: 'r1', name: 'hub', imageName: 'web' }),
  makeService('db', { id: 'r2', name: 'other', imageName: 'library/db' }),
]

test('sends the images in their order with the names that they have in their registries', () => {
  expect(toImportedImages(services)).toEqual([
    { registryId: 'r1', name: 'web', tag: '1', config: { name: 'web' } },
    { registryId: 'r2', name: 'library/db', tag: '1', config: { name: 'db' } },
  ])
})

test('leaves out a service without a registry', () => {
  expect(toImportedImages([makeService('web', null)])).toEqual([])
})

test('names the service of a problem that the server found in an image', () => {
  const details = [
    { property: 'images[1].config.ports[0].external', error: 'x', description: 'Port 1 is taken' },
    { property: 'images[0].name', error: 'x', description: 'No name' },
    { property: 'images[7].name', error: 'x', description: 'There is no such image' },
    { property: 'project.name', error: 'x', description: 'Taken' },
  ]
  expect(findServiceProblems(details, services)).toEqual([
    { service: 'db', property: 'ports[0].external', description: 'Port 1 is taken' },
    { service: 'web', property: 'name', description: 'No name' },
  ])
})
