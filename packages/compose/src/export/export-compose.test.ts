import type { ContainerConfigFields } from '@crux/contract'
import { arbitraryConfig, arbitraryLayer } from '@crux/rules/arbitrary-config'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importText } from '../../test/import-compose.ts'
import { toComparable } from './comparable.ts'
import { exportCompose } from './export-compose.ts'

const name = 'docker.io/library/app'
const exportOne = (config: ContainerConfigFields, tag: string | null = '1.2') =>
  exportCompose({ name: 'Version 1', images: [{ name, tag, config }] })

describe('the export of random configurations', () => {
  const imports = (config: ContainerConfigFields) => {
    const text = exportOne(config)
    const { images, problems } = importText(text)
    expect(problems.filter(({ level }) => level === 'error')).toEqual([])
    expect(images.map((image) => toComparable(image.config))).toEqual([toComparable(config)])
    expect(exportOne(images[0]?.config ?? {})).toBe(text)
  }

  test('imports to the same merged configuration', () => {
    fc.assert(fc.property(arbitraryConfig(), imports), { numRuns: 100 })
  })

  test('imports to the same layer, with removed keys and unset values', () => {
    fc.assert(fc.property(arbitraryLayer(), imports), { numRuns: 100 })
  })

  test('imports to the same configurations in the same order', () => {
    fc.assert(
      fc.property(fc.array(arbitraryConfig(), { maxLength: 5 }), (configs) => {
        const named = configs.map((config, index) => ({ ...config, name: `${config.name}-${index}` }))
        const text = exportCompose({ name: 'v1', images: named.map((config) => ({ name, tag: null, config })) })
        const { images } = importText(text)
        expect(images.map(({ config }) => toComparable(config))).toEqual(named.map(toComparable))
      }),
      { numRuns: 25 },
    )
  })
})

describe('the export of a version', () => {
  test('contains no values of secrets', () => {
    const secrets = [{ key: 'TOKEN', required: true, value: 'hunter2', encrypted: true, publicKey: 'age1public' }]
    const text = exportOne({ name: 'web', secrets })
    expect(text).toContain('key: TOKEN')
    expect(text).not.toMatch(/hunter2|age1public/)
  })

  test('escapes variables, so that they are not interpolated', () => {
    const config = { name: 'web', environment: [{ key: 'A', value: '$HOME and $USER and $$' }] }
    const text = exportOne(config)
    expect(text).toContain('A: $$HOME and $$USER and $$$$')
    const { images, problems } = importText(text)
    expect(problems).toEqual([])
    expect(images[0]?.config).toEqual(config)
  })

  test('has no extension for what Compose can say', () => {
    const text = exportOne({
      name: 'web',
      user: 1000,
      ports: [{ internal: 80, external: 8080 }],
      networks: [{ key: 'back' }, { key: 'engine:proxy' }],
      volumes: [{ name: 'data', path: '/data' }],
      resourceConfig: { limits: { cpu: '500m', memory: '0.5Gi' } },
      healthCheckConfig: { test: 'exec', arguments: [{ key: 'true' }] },
      replicas: 2,
    })
    expect(text).not.toContain('x-crux')
    expect(text).toContain('cpus: "0.5"')
    expect(text).toContain('memory: 512m')
  })

  test('keeps digests, and tags with digests', () => {
    const digest = `sha256:${'a'.repeat(64)}`
    for (const tag of [null, '1.2', digest, `1.2@${digest}`])
      expect(importText(exportOne({ name: 'web' }, tag)).images).toMatchObject([{ name, tag }])
  })

  test('gives containers that use the same name for a volume different volumes', () => {
    const volumes = [{ name: 'data', path: '/data', type: 'rwo' as const }]
    const images = ['first', 'second'].map((own) => ({ name, tag: null, config: { name: own, volumes } }))
    const text = exportCompose({ name: 'v1', images })
    expect(text).toContain('first-data:/data')
    expect(text).toContain('second-data:/data')
    const imported = importText(text)
    expect(imported.notKept).toEqual([])
    expect(imported.images.map(({ config }) => config.volumes)).toEqual([volumes, volumes])
  })

  test('names services after images without a configured name, each differently', () => {
    const images = [{}, {}, { name: 'app' }].map((config) => ({ name, tag: null, config }))
    const { images: imported } = importText(exportCompose({ name: '1.0', images }))
    expect(imported.map(({ service, config }) => [service, config])).toEqual([
      ['app', {}],
      ['app-2', {}],
      ['app-3', { name: 'app' }],
    ])
  })

  test('of a version without images can be read', () => {
    expect(importText(exportCompose({ name: '-.-', images: [] }))).toEqual({ images: [], problems: [], notKept: [] })
  })
})
