import { FinalContainerConfig } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeConfig } from './config-merge.ts'
import { withoutIds } from './config-parts.ts'
import { type ConfigLayer, defaultContainerName, finalConfig, missingSecrets } from './final-config.ts'

const instance = (fields: ConfigLayer['fields']): ConfigLayer => ({ source: 'instance', fields })
const rows = <V extends string | null>(values: Record<string, V>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }))
const make = (image: ConfigLayer['fields'], ...layers: ConfigLayer[]) =>
  finalConfig({ image, layers, imageName: 'library/nginx', versionName: '1.0.0' })

describe('mergeConfig', () => {
  it('lets the stronger layer win key by key', () => {
    const merged = mergeConfig(
      {
        environment: [
          { key: 'A', value: '1' },
          { key: 'B', value: '2' },
        ],
      },
      {
        environment: [
          { key: 'B', value: '3' },
          { key: 'C', value: '4' },
        ],
      },
    )
    expect(merged.environment).toEqual([
      { key: 'A', value: '1' },
      { key: 'B', value: '3' },
      { key: 'C', value: '4' },
    ])
  })

  it('keeps an explicit empty value, and removes a key that is null', () => {
    const { config } = make(
      {
        environment: [
          { key: 'EMPTY', value: 'x' },
          { key: 'GONE', value: 'y' },
        ],
      },
      instance({
        environment: [
          { key: 'EMPTY', value: '' },
          { key: 'GONE', value: null },
        ],
      }),
    )
    expect(config.environment).toEqual([{ key: 'EMPTY', value: '' }])
  })

  it('takes args and commands as a whole from the strongest layer that has some', () => {
    const image = { args: [{ key: 'a' }, { key: 'b' }], commands: [{ key: 'run' }] }
    expect(mergeConfig(image, { args: [{ key: 'c' }], commands: [] })).toEqual({
      args: [{ key: 'c' }],
      commands: [{ key: 'run' }],
    })
  })

  it('replaces ports by internal port and protocol, volumes by path or name, ranges by overlap', () => {
    const merged = mergeConfig(
      {
        ports: [
          { internal: 80, external: 8080 },
          { internal: 53, external: 53, protocol: 'udp' },
        ],
        volumes: [
          { name: 'data', path: '/data' },
          { name: 'logs', path: '/logs' },
          { name: 'tmp', path: '/tmp' },
        ],
        portRanges: [{ internal: { from: 100, to: 110 }, external: { from: 100, to: 110 } }],
      },
      {
        ports: [
          { internal: 80, external: 9090 },
          { internal: 53, external: 5353 },
        ],
        volumes: [
          { name: 'data', path: '/elsewhere' },
          { name: 'other', path: '/logs' },
        ],
        portRanges: [{ internal: { from: 110, to: 120 }, external: { from: 200, to: 210 } }],
      },
    )
    expect(merged.ports).toEqual([
      { internal: 80, external: 9090 },
      { internal: 53, external: 53, protocol: 'udp' },
      { internal: 53, external: 5353 },
    ])
    expect(merged.volumes?.map((row) => row.path)).toEqual(['/elsewhere', '/logs', '/tmp'])
    expect(merged.portRanges).toHaveLength(1)
  })

  it('unites networks with the stronger layer first, and markers by key inside a section', () => {
    const merged = mergeConfig(
      {
        networks: [{ key: 'a' }, { key: 'b' }],
        labels: { service: [{ key: 'team', value: 'x' }], deployment: [{ key: 'd', value: '1' }] },
      },
      { networks: [{ key: 'b' }, { key: 'c' }], labels: { service: [{ key: 'tier', value: 'web' }] } },
    )
    expect(merged.networks?.map((row) => row.key)).toEqual(['b', 'c', 'a'])
    expect(merged.labels).toEqual({
      service: [
        { key: 'team', value: 'x' },
        { key: 'tier', value: 'web' },
      ],
      deployment: [{ key: 'd', value: '1' }],
    })
  })

  it('treats user -1 as not set, and falls back as a whole for the other fields', () => {
    expect(mergeConfig({ user: 1000, tty: true }, { user: -1, tty: false })).toEqual({ user: 1000, tty: false })
    expect(make({ user: -1 }).config.user).toBeUndefined()
    expect(mergeConfig({ routing: { domain: 'a', path: '/x' } }, { routing: { domain: 'b' } }).routing).toEqual({
      domain: 'b',
    })
  })

  const row = fc.record({
    key: fc.constantFrom('A', 'B', 'C', 'D'),
    value: fc.option(fc.string({ maxLength: 3 }), { nil: null }),
  })
  const layer = fc.record(
    {
      environment: fc.uniqueArray(row, { selector: (one) => one.key }),
      dockerLabels: fc.uniqueArray(row, { selector: (one) => one.key }),
      ports: fc.uniqueArray(
        fc.record({ internal: fc.integer({ min: 1, max: 4 }), external: fc.integer({ min: 1, max: 9 }) }),
        { selector: (one) => one.internal },
      ),
      networks: fc.uniqueArray(fc.record({ key: fc.constantFrom('x', 'y', 'z') }), { selector: (one) => one.key }),
      args: fc.array(fc.record({ key: fc.constantFrom('1', '2') }), { maxLength: 3 }),
      user: fc.integer({ min: -1, max: 3 }),
      tty: fc.boolean(),
      name: fc.constantFrom('', 'web', 'db'),
    },
    { requiredKeys: [] },
  )
  const bySet = (fields: ConfigLayer['fields']) =>
    Object.fromEntries(
      Object.entries(finalConfig({ image: fields, layers: [], imageName: 'x', versionName: 'v' }).config).map(
        ([name, value]) => [
          name,
          Array.isArray(value) && name !== 'args' ? value.map((one) => JSON.stringify(one)).sort() : value,
        ],
      ),
    )

  it('does not depend on how layers are grouped', () => {
    fc.assert(
      fc.property(layer, layer, layer, (a, b, c) => {
        expect(bySet(mergeConfig(mergeConfig(a, b), c))).toEqual(bySet(mergeConfig(a, mergeConfig(b, c))))
      }),
      { numRuns: 300 },
    )
  })

  it('changes nothing when an empty layer is merged above or below', () => {
    fc.assert(
      fc.property(layer, (a) => {
        expect(bySet(mergeConfig(a, {}))).toEqual(bySet(a))
        expect(bySet(mergeConfig({}, a))).toEqual(bySet(a))
        expect(bySet(mergeConfig(a, a))).toEqual(bySet(a))
      }),
    )
  })

  it('always results in a configuration that the agent accepts', () => {
    fc.assert(
      fc.property(layer, layer, (image, top) => {
        const { config } = make(image, instance(top))
        expect(FinalContainerConfig.safeParse(config).error).toBeUndefined()
      }),
    )
  })
})

describe('finalConfig', () => {
  it('names the container after the image when no layer names it', () => {
    expect(make({}).config.name).toBe('nginx')
    expect(make({ name: 'web' }).config.name).toBe('web')
    expect(make({ name: 'web' }, instance({ name: 'front' })).config.name).toBe('front')
    expect(defaultContainerName('group/My_App.v2:1.0')).toBe('my-app-v2')
    expect(defaultContainerName('localhost:5000/app@sha256:abc')).toBe('app')
  })

  it('replaces the version name with and without spaces in all texts, and inserts it literally', () => {
    const { config } = finalConfig({
      image: { environment: [{ key: 'V', value: '{{versionName}}-{{ versionName }}-{{  versionName}}' }] },
      layers: [],
      imageName: 'x',
      versionName: "$&$'1",
    })
    expect(config.environment[0]?.value).toBe("$&$'1-$&$'1-$&$'1")
  })

  it('returns the layer of origin for every part', () => {
    const { origins } = make(
      {
        tty: true,
        environment: [
          { key: 'A', value: '1' },
          { key: 'B', value: '2' },
        ],
        args: [{ key: 'x' }],
      },
      { source: 'deployment', name: 'shop', fields: { environment: [{ key: 'B', value: '3' }] } },
      instance({ ports: [{ internal: 80 }], args: [], user: -1 }),
    )
    const said = origins()
    const image = { source: 'image', name: 'library/nginx' }
    expect(said.get('environment.A')).toEqual(image)
    expect(said.get('environment.B')).toEqual({ source: 'deployment', name: 'shop' })
    expect(said.get('ports.80/tcp')).toEqual({ source: 'instance' })
    expect(said.get('args')).toEqual(image)
    expect(said.get('tty')).toEqual(image)
    expect(said.get('name')).toEqual({ source: 'default' })
  })

  it('merges four layers, the strongest last, and names the bundle that sets a value', () => {
    const { config, origins } = finalConfig({
      image: { environment: rows({ A: 'image', B: 'image', C: 'image', D: 'image' }), tty: true },
      imageConfigId: 'c-image',
      layers: [
        {
          source: 'config-bundle',
          name: 'base',
          configId: 'c-base',
          fields: { environment: rows({ B: 'base', E: '1' }) },
        },
        { source: 'config-bundle', name: 'debug', configId: 'c-debug', fields: { environment: rows({ C: 'debug' }) } },
        {
          source: 'deployment',
          name: 'shop',
          configId: 'c-shop',
          fields: { environment: rows({ C: 'shop', D: null }) },
        },
        instance({ environment: rows({ E: '' }), tty: false }),
      ],
      imageName: 'nginx',
      versionName: '1',
    })
    expect(config.environment).toEqual(rows({ A: 'image', B: 'base', C: 'shop', E: '' }))
    expect(config.tty).toBe(false)
    const said = origins()
    expect(said.get('environment.A')).toEqual({ source: 'image', name: 'nginx', configId: 'c-image' })
    expect(said.get('environment.B')).toEqual({ source: 'config-bundle', name: 'base', configId: 'c-base' })
    expect(said.get('environment.C')).toEqual({ source: 'deployment', name: 'shop', configId: 'c-shop' })
    expect(said.has('environment.D')).toBe(false)
    expect(said.get('environment.E')).toEqual({ source: 'instance' })
  })

  it('merges ulimits and extra hosts by key', () => {
    const { config, origins } = make(
      {
        ulimits: [
          { key: 'nofile', soft: 1_024, hard: 2_048 },
          { key: 'nproc', soft: 10, hard: 10 },
        ],
        extraHosts: [{ key: 'db', value: '10.0.0.1' }],
        shmSize: '64Mi',
      },
      instance({
        ulimits: [{ key: 'nofile', soft: -1, hard: -1 }],
        extraHosts: [{ key: 'cache', value: 'host-gateway' }],
        shmSize: '',
      }),
    )
    expect(config.ulimits).toEqual([
      { key: 'nofile', soft: -1, hard: -1 },
      { key: 'nproc', soft: 10, hard: 10 },
    ])
    expect(config.extraHosts?.map((row) => row.key)).toEqual(['db', 'cache'])
    expect(config.shmSize).toBe('64Mi')
    expect(origins().get('ulimits.nofile')).toEqual({ source: 'instance' })
    expect(origins().get('extraHosts.db')?.source).toBe('image')
  })

  it('takes the value of a secret from the strongest layer that has one, also below a row that only names the key', () => {
    const sealed = { value: 'pgp', encrypted: true, publicKey: 'key' }
    const { config, origins } = make(
      { secrets: [{ key: 'PASS', required: true }] },
      { source: 'deployment', name: 'shop', fields: { secrets: [{ key: 'PASS', required: false, ...sealed }] } },
      instance({ secrets: [{ key: 'PASS', required: false }] }),
    )
    expect(config.secrets).toEqual([{ key: 'PASS', required: true, ...sealed }])
    expect(origins().get('secrets.PASS')).toEqual({ source: 'deployment', name: 'shop' })
    expect(missingSecrets(config)).toEqual([])
  })

  it('keeps the group of a generated value in the merged layers, and leaves it out of the final configuration', () => {
    const base = { secrets: [{ key: 'PASS', required: true, generate: 'database' }] }
    const concrete = { secrets: [{ key: 'PASS', required: false, value: 'pgp', encrypted: true }] }
    expect(mergeConfig(base, concrete).secrets).toEqual([
      { key: 'PASS', required: true, generate: 'database', value: 'pgp', encrypted: true },
    ])
    expect(mergeConfig(base, { secrets: [{ key: 'PASS', required: false, generate: 'admin' }] }).secrets).toEqual([
      { key: 'PASS', required: true, generate: 'admin' },
    ])
    expect(make(base, instance(concrete)).config.secrets).toEqual([
      { key: 'PASS', required: true, value: 'pgp', encrypted: true },
    ])
  })

  it('keeps required keys of the base required, and returns those without a value', () => {
    const { config } = make(
      {
        secrets: [
          { key: 'API', required: true },
          { key: 'MAYBE', required: false },
          { key: 'PASS', required: true },
        ],
      },
      instance({ secrets: [{ key: 'PASS', required: false, value: 'pgp', encrypted: true }] }),
    )
    expect(config.secrets.map((row) => row.key)).toEqual(['API', 'PASS'])
    expect(missingSecrets(config)).toEqual(['API'])
  })

  it('does not change the input layers', () => {
    const image = { environment: [{ key: 'A', value: '{{ versionName }}' }] }
    const before = JSON.stringify(image)
    make(image, instance({ environment: [{ key: 'A', value: null }] }))
    expect(JSON.stringify(image)).toBe(before)
    expect(withoutIds([{ id: 'x', key: 'A' }])).toEqual([{ key: 'A' }])
  })
})
