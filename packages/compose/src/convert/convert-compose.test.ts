import { ContainerConfigFields } from '@crux/contract'
import { validateConfig } from '@crux/rules'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importText } from '../../test/import-compose.ts'
import type { ComposeDocument, ComposeValue } from '../model.ts'
import { convertCompose } from './convert-compose.ts'
import { serviceKeys } from './key-table.ts'

const toDocument = (value: ComposeDocument['value']): ComposeDocument => ({
  value,
  position: () => ({ file: 'compose.yaml', line: 1, column: 1 }),
  envFileVariables: {},
  invalidServices: new Set(),
})

const scalar = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('80:80', 'a=b', '5m', '1-3:1-3/udp', '/a:/b:ro', 'web', '__proto__', "'", '[::1]:1:1'),
)
const key = fc.oneof(
  fc.string({ minLength: 1, maxLength: 5 }),
  fc.constantFrom('target', 'source', 'type', 'test', 'limits', 'resources', 'external', 'condition', 'constructor'),
)
const { value: anyValue } = fc.letrec<{ value: ComposeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}))
const outermostKeys = Object.keys(serviceKeys).filter((name) => !name.includes('.'))
const anyService = fc.dictionary(fc.constantFrom(...outermostKeys, 'x-crux', 'unknown'), anyValue, { maxKeys: 8 })

describe('the conversion', () => {
  test('takes any values without a crash, and results only in valid configurations', () => {
    const check = (services: ComposeValue, volumes: ComposeValue, networks: ComposeValue) => {
      const { images } = convertCompose(toDocument({ services, volumes, networks }))
      for (const { config } of images) {
        expect(ContainerConfigFields.safeParse(config).error).toBeUndefined()
        expect(validateConfig(config)).toEqual([])
      }
    }
    const service = anyService.map((value) => ({ image: 'nginx', ...value }))
    const services = fc.dictionary(fc.constantFrom('web', 'db', 'constructor', 'a'), service, { maxKeys: 3 })
    fc.assert(fc.property(fc.oneof(services, anyValue), anyValue, anyValue, check), { numRuns: 1_000 })
  })

  test('leaves out a service that could not be read, and keeps the others', () => {
    const document = toDocument({ services: { broken: { image: 3 }, web: { image: 'nginx' } } })
    const { images, problems } = convertCompose({ ...document, invalidServices: new Set(['broken']) })
    expect(images.map(({ service }) => service)).toEqual(['web'])
    expect(problems).toEqual([])
  })

  test('reports a key that the table of keys does not know, because a newer schema may have it', () => {
    const { notKept } = convertCompose(toDocument({ services: { web: { image: 'nginx', teleport: true } } }))
    expect(notKept).toMatchObject([{ path: 'services.web.teleport', reason: 'Crux does not know the key teleport' }])
  })

  test('reports a false where true is what Crux does', () => {
    const { notKept } = importText('services: {web: {image: nginx}}\nnetworks: {back: {enable_ipv4: false}}\n')
    expect(notKept.map(({ path }) => path)).toEqual(['networks.back.enable_ipv4'])
  })

  test('hides no path of the node and no network of the engine: they keep the form that the server judges', () => {
    const { images, problems } = importText(`
services:
  web:
    image: nginx
    volumes: ["/var/run/docker.sock:/socket:ro"]
    networks: [proxy]
  upwards:
    image: nginx
    volumes: ["/srv/../etc:/data"]
networks:
  proxy: {external: true}
`)
    expect(images[0]?.config).toMatchObject({
      volumes: [{ name: '/var/run/docker.sock' }],
      networks: [{ key: 'engine:proxy' }],
    })
    expect(problems).toMatchObject([{ level: 'error', path: 'services.upwards.volumes.0' }])
  })

  test('takes 2,000 entries of a list, and ranges of 10,000 single ports in all services', () => {
    const listVolumes = (count: number) => Array.from({ length: count }, (_, at) => `/v${at}:/v${at}`)
    const importVolumes = (count: number) =>
      importText(`services: {web: {image: nginx, volumes: ${JSON.stringify(listVolumes(count))}}}`)
    expect(importVolumes(2_000).images[0]?.config.volumes).toHaveLength(2_000)
    expect(importVolumes(2_001).problems).toMatchObject([
      { path: 'services.web.volumes.2000', message: expect.stringContaining('at most 2,000') },
    ])
    const exposing = Array.from({ length: 11 }, (_, at) => `  web-${at}: {image: nginx, expose: ["1-1000"]}`)
    const { images, problems } = importText(`services:\n${exposing.join('\n')}\n`)
    expect(images).toHaveLength(10)
    expect(problems).toMatchObject([{ path: 'services.web-10.expose.0', message: expect.stringContaining('10,000') }])
  })

  test('names many volumes without a name by their directories', () => {
    const volumes = Array.from({ length: 3 }, (_, at) => `/v${at}/data`)
    const { images } = importText(`services: {web: {image: nginx, volumes: ${JSON.stringify(volumes)}}}`)
    expect(images[0]?.config.volumes?.map(({ name }) => name)).toEqual(['data', 'data-2', 'data-3'])
  })
})
