import { ContainerConfigFields, type ContainerConfigFields as Fields } from '@crux/contract'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryLayer } from '../test/arbitrary-config.ts'
import { configFromJson, configToJson } from './config-json.ts'
import { withoutIds } from './config-parts.ts'
import { configJsonSchema, type JsonSchema } from './json-schema.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const runs = { numRuns: process.env.CRUX_TEST_FULL ? 3_000 : 60, seed }
const long = process.env.CRUX_TEST_FULL ? 600_000 : 30_000
const read = (json: unknown, current: Fields = {}, base = false) =>
  configFromJson(JSON.stringify(json), current, { newId: () => '0199f0e0-0000-7000-8000-000000000001', base })
const getFields = (json: unknown, base = false) => {
  const result = read(json, {}, base)
  if (!result.ok) throw new Error(`${result.property}: ${result.description}`)
  return withoutIds(result.patch)
}
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false })

describe('shorthands in the JSON tab', () => {
  it.each<[string, unknown, unknown]>([
    [
      'ports, with ranges among them',
      { ports: ['8080:80', '127.0.0.1:53:53/udp', { internal: 1 }, '8000-8001:9000-9001'], portRanges: ['1-2'] },
      {
        ports: [
          { internal: 80, external: 8080 },
          { internal: 53, external: 53, protocol: 'udp', bindAddress: '127.0.0.1' },
          { internal: 1 },
        ],
        portRanges: [
          { internal: { from: 1, to: 2 }, external: { from: 1, to: 2 } },
          { internal: { from: 9000, to: 9001 }, external: { from: 8000, to: 8001 } },
        ],
      },
    ],
    ['volumes', { volumes: ['data:/data:ro'] }, { volumes: [{ name: 'data', path: '/data', type: 'ro' }] }],
    ['a restart policy', { restartPolicy: 'unless-stopped' }, { restartPolicy: 'unlessStopped' }],
    [
      'lists of name and value',
      { environment: ['A=1=2', 'B='], dockerLabels: ['x.y=z'] },
      {
        environment: [
          { key: 'A', value: '1=2' },
          { key: 'B', value: '' },
        ],
        dockerLabels: [{ key: 'x.y', value: 'z' }],
      },
    ],
    [
      'limits of the process',
      { ulimits: { nofile: '1024:2048', nproc: 5, core: { soft: 0, hard: -1 } } },
      {
        ulimits: [
          { key: 'nofile', soft: 1024, hard: 2048 },
          { key: 'nproc', soft: 5, hard: 5 },
          { key: 'core', soft: 0, hard: -1 },
        ],
      },
    ],
    [
      'hosts',
      { extraHosts: ['db:10.0.0.5', 'six=[fd00::1]', 'up:host-gateway'] },
      {
        extraHosts: [
          { key: 'db', value: '10.0.0.5' },
          { key: 'six', value: 'fd00::1' },
          { key: 'up', value: 'host-gateway' },
        ],
      },
    ],
    [
      'an init container',
      { initContainers: [{ name: 'i', image: 'x', command: ['sh'], environment: { A: 1 }, volumes: ['data:/d'] }] },
      {
        initContainers: [
          {
            name: 'i',
            image: 'x',
            command: [{ key: 'sh' }],
            environment: [{ key: 'A', value: '1' }],
            useParentConfig: false,
            volumes: [{ name: 'data', path: '/d' }],
          },
        ],
      },
    ],
    ['metrics', { metrics: { enabled: true, port: 80 } }, { metrics: { enabled: true, port: 80 } }],
  ])('are read as rows: %s', (_, json, fields) => {
    const given = Object.fromEntries(Object.entries(getFields(json) as object).filter(([, value]) => value !== null))
    expect(JSON.parse(JSON.stringify(given, (__, value) => value ?? undefined))).toEqual(fields)
  })

  it.each<[unknown, string, RegExp]>([
    [{ ports: ['8080:80', 'eighty'] }, 'ports[1]', /"eighty" cannot be read: write it like "8080:80"/],
    [{ volumes: ['data'] }, 'volumes[0]', /data:\/var\/lib\/data:rwo/],
    [{ ulimits: { nofile: 'many' } }, 'ulimits.nofile', /one number, or both/],
    [{ ulimits: { files: 1 } }, 'ulimits[0].key', /nofile/],
    [{ environment: ['A'] }, 'environment[0]', /name and a value/],
    [{ restartPolicy: 'sometimes' }, 'restartPolicy', /always/],
    [{ ports: 80 }, 'ports', /list/],
  ])('are refused at their position in %j', (json, property, description) => {
    expect(read(json)).toEqual({ ok: false, property, description: expect.stringMatching(description) })
  })

  it('change nothing where only the order of names differs', () => {
    const current: Fields = { environment: ['2', '1', 'A'].map((key) => ({ key, value: key })) }
    expect(read(configToJson(current), current)).toEqual({ ok: true, patch: {} })
    expect(read({ environment: { A: 'A', 1: '1', 2: 'two' } }, current)).toMatchObject({
      ok: true,
      patch: { environment: {} },
    })
  })

  it('contain keys of secrets in a base layer only, keep secrets when the text names none, and never contain a value', () => {
    const current: Fields = { secrets: [{ key: 'A', required: true, value: 'sealed' }] }
    expect(configToJson(current)).toEqual({})
    expect(configToJson(current, { base: true })).toEqual({ secrets: [{ key: 'A', required: true }] })
    const generated: Fields = { secrets: [{ key: 'A', required: true, generate: 'database' }] }
    expect(configToJson(generated, { base: true })).toEqual({
      secrets: [{ key: 'A', required: true, generate: 'database' }],
    })
    expect(read(configToJson(generated, { base: true }), generated, true)).toEqual({ ok: true, patch: {} })
    expect(read({}, current, true)).toEqual({ ok: true, patch: {} })
    expect(read({ secrets: [] }, current, true)).toEqual({ ok: true, patch: { secrets: [] } })
  })
})

describe('any configuration as JSON', () => {
  it(
    'is unchanged after a round trip, also from an empty layer',
    () => {
      fc.assert(
        fc.property(arbitraryLayer(), (layer) => {
          const { secrets: _, ...fields } = ContainerConfigFields.parse(layer)
          const json = configToJson(layer)
          expect(read(json, layer)).toEqual({ ok: true, patch: {} })
          expect(configToJson(ContainerConfigFields.parse((read(json) as { patch: Fields }).patch))).toEqual(
            configToJson(fields),
          )
        }),
        runs,
      )
    },
    long,
  )

  it(
    'conforms to the JSON schema',
    () => {
      const layer = ajv.compile(configJsonSchema())
      const base = ajv.compile(configJsonSchema({ base: true }))
      fc.assert(
        fc.property(arbitraryLayer(), (fields) => {
          layer(configToJson(fields))
          expect(layer.errors).toBeNull()
          base(configToJson(fields, { base: true }))
          expect(base.errors).toBeNull()
        }),
        runs,
      )
    },
    long,
  )
})

describe('the JSON schema of configurations', () => {
  const valid = ajv.compile(configJsonSchema())

  it('accepts shorthands and refuses values that the contract refuses', () => {
    expect(valid({ ports: ['8080:80'], ulimits: { nofile: '1:2', nproc: 3 }, environment: { A: 1, B: null } })).toBe(
      true,
    )
    for (const wrong of [
      { nmae: 'x' },
      { expose: 'yes' },
      { ports: [{ internal: 0 }] },
      { secrets: [] },
      { ulimits: { files: 1 } },
      { environment: [{ key: 'A', value: '' }] },
      { routing: { port: '80' } },
    ])
      expect(valid(wrong), JSON.stringify(wrong)).toBe(false)
  })

  it('describes every setting and its members, and contains no ids', () => {
    const bare: string[] = []
    const look = (schema: JsonSchema, path: string): void => {
      for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        const at = path ? `${path}.${name}` : name
        const isEnd = name === 'from' || name === 'to'
        if (!isEnd && !inner.description) bare.push(at)
        if (name === 'id') bare.push(`${at} is an id`)
        look(inner, at)
      }
      for (const inner of [schema.items, ...(schema.anyOf ?? [])]) if (inner) look(inner, path)
    }
    look(configJsonSchema({ base: true }), '')
    expect(bare).toEqual([])
    expect(Object.keys(configJsonSchema({ base: true }).properties ?? {})).toEqual(
      Object.keys(ContainerConfigFields.shape),
    )
  })

  it('contains examples that the JSON tab can read', () => {
    const look = (schema: JsonSchema, at: string[]): void => {
      for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        for (const example of inner.examples ?? []) {
          const [field = '', ...rest] = [...at, name]
          const json = rest.reduceRight<unknown>((value, step) => ({ [step]: value }), example)
          if (field !== 'volumes' || rest.length === 0)
            expect(read({ [field]: json }).ok, `${field} ${rest}`).toBe(true)
        }
        look(inner, [...at, name])
      }
      for (const inner of schema.anyOf ?? []) look(inner, at)
    }
    look(configJsonSchema(), [])
    expect.hasAssertions()
  })
})
