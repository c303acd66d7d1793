import { expect, test } from 'vitest'
import { type ComposeInput, keepUnchangedServices, type Registry } from './compose-result.ts'
import { computeResult } from './compute-result.ts'
import { exampleCompose, exampleEnv } from './example.ts'

const registry: Registry = {
  id: '0b0f7a52-3f5e-4c0e-8c1f-0d5b9a3c2e11',
  name: 'team registry',
  type: 'v2',
  url: 'registry.example.com',
  imageUrlPrefix: 'registry.example.com/shop',
}
const compose = `services:
  web:
    image: registry.example.com/shop/web:1.2
    depends_on: [cache]
    environment:
      GREETING: \${GREETING}
  cache:
    image: valkey/valkey:8
    network_mode: host
`
const input = (text: string, env = 'GREETING=hello'): ComposeInput => ({
  files: [{ name: 'compose.yaml', text }],
  envFiles: [{ name: '.env', text: env }],
  registries: [registry],
})

test('finds the registry of each image by its prefix, and lists the hosts that have none', () => {
  const { services, missingHosts } = computeResult(input(compose))
  expect(services.map(({ service, registry, tag }) => [service, registry?.imageName, tag])).toEqual([
    ['cache', undefined, '8'],
    ['web', 'web', '1.2'],
  ])
  expect(missingHosts).toEqual(['docker.io'])
})

test('shows the configuration as the JSON tab does, with the values of the .env file', () => {
  const { services } = computeResult(input(compose))
  const json: unknown = JSON.parse(services.find(({ service }) => service === 'web')?.json ?? '')
  expect(json).toMatchObject({ name: 'web', environment: { GREETING: 'hello' } })
})

test('names the settings of a service that reach the node', () => {
  const { services } = computeResult(input(compose))
  expect(services.map(({ service, dangers }) => [service, dangers.map(({ property }) => property)])).toEqual([
    ['cache', ['networkMode']],
    ['web', []],
  ])
})

test('sorts errors before warnings, and keeps the services without errors', () => {
  const wrong = `${compose}  api:\n    imgae: nginx\n  worker:\n    image: \${MISSING}nginx\n`
  const { problems, failedServices, services } = computeResult(input(wrong))
  const levels = problems.map(({ level }) => level)
  expect(levels).toEqual(levels.toSorted())
  expect(levels).toContain('error')
  expect(levels).toContain('warning')
  expect(failedServices).toEqual(['api'])
  expect(services.map(({ service }) => service).toSorted()).toEqual(['cache', 'web', 'worker'])
  expect(problems.find(({ service }) => service === 'api')).toMatchObject({ file: 'compose.yaml', line: 11 })
})

test('what is not kept has the order of the lines, whether reading or conversion lists it', () => {
  const text = `services:
  web:
    image: nginx
    pid: host
  tool:
    image: nginx
    profiles: [tools]
  cache:
    image: nginx
    pid: host
`
  expect(computeResult(input(text)).notKept.map(({ line, path }) => [line, path])).toEqual([
    [4, 'services.web.pid'],
    [5, 'services.tool'],
    [10, 'services.cache.pid'],
  ])
})

test('an empty file has no services and no problems', () => {
  expect(computeResult(input('', ''))).toEqual({
    services: [],
    failedServices: [],
    problems: [],
    notKept: [],
    missingHosts: [],
  })
})

test('the result can be copied out of a worker', () => {
  const result = computeResult(input(compose))
  expect(structuredClone(result)).toEqual(result)
})

test('keeps the objects of services that did not change', () => {
  const before = computeResult(input(compose))
  const after = keepUnchangedServices(before, computeResult(input(compose.replace('valkey:8', 'valkey:9'))))
  const find = (result: typeof before, name: string) => result.services.find(({ service }) => service === name)
  expect(find(after, 'web')).toBe(find(before, 'web'))
  expect(find(after, 'cache')?.tag).toBe('9')
})

test('the example of the empty page is read without a problem, and everything of it is kept', () => {
  const { services, problems, notKept } = computeResult(input(exampleCompose, exampleEnv))
  expect(services.map(({ service }) => service)).toEqual(['cache', 'web'])
  expect(problems).toEqual([])
  expect(notKept).toEqual([])
})
