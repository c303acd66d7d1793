import type { ContainerConfigFields } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bundleConflicts, conflictFields } from './bundle-conflicts.ts'
import { overlappingRanges, sameVolume } from './config-merge.ts'
import { configParts, sameValue } from './config-parts.ts'
import { mergeLayers } from './final-config.ts'

const conflicts = (bundles: ContainerConfigFields[], deployment: ContainerConfigFields = {}) =>
  bundleConflicts(
    bundles.map((fields, index) => ({ configId: 'abc'[index] ?? '', name: `bundle ${'ABC'[index]}`, fields })),
    deployment,
  )
const said = (bundles: ContainerConfigFields[], deployment?: ContainerConfigFields) =>
  conflicts(bundles, deployment).map(({ property, configIds }) => `${property} ${configIds.join('')}`)
const env = (values: Record<string, string | null>) => ({
  environment: Object.entries(values).map(([key, value]) => ({ key, value })),
})
const range = (internal: [number, number], external: [number, number]) => ({
  internal: { from: internal[0], to: internal[1] },
  external: { from: external[0], to: external[1] },
})

describe('bundleConflicts', () => {
  it.each<[string, ContainerConfigFields[], ContainerConfigFields, string[]]>([
    ['one bundle alone', [{ tty: true }], {}, []],
    ['a scalar', [{ tty: true }, { tty: false }, {}], {}, ['tty ab']],
    ['a scalar that the deployment sets', [{ tty: true }, { tty: false }], { tty: true }, []],
    ['equal scalars', [{ tty: true }, { tty: true }], {}, []],
    ['set and not set', [{ routing: { domain: 'a' } }, { routing: null }, { user: -1, name: '' }, {}], {}, []],
    ['user -1 is not set', [{ user: 5 }, { user: -1 }], {}, []],
    ['objects', [{ routing: { domain: 'a' } }, { routing: { domain: 'b' } }], {}, ['routing ab']],
    ['objects that differ in nothing', [{ routing: { domain: 'a', path: '' } }, { routing: { domain: 'a' } }], {}, []],
    [
      'expected states',
      [{ expectedState: { state: 'running' } }, { expectedState: { state: 'exited' } }],
      {},
      ['expectedState ab'],
    ],
    [
      'limits, but not requests',
      [
        { resourceConfig: { limits: { cpu: '1' }, requests: { cpu: '0.5' } } },
        { resourceConfig: { limits: { cpu: '2' }, requests: { cpu: '0.5' } } },
      ],
      {},
      ['resourceConfig.limits ab'],
    ],
    [
      'log options',
      [
        { logConfig: { driver: 'local', options: [{ key: 'max-size', value: '1m' }] } },
        { logConfig: { driver: 'local', options: [{ key: 'max-size', value: '2m' }] } },
      ],
      {},
      ['logConfig.options ab'],
    ],
    ['a key', [env({ A: '1', B: '1' }), env({ A: '2', B: '1' }), env({ A: '1' })], {}, ['environment.A abc']],
    ['a key that the deployment has', [env({ A: '1' }), env({ A: '2' })], env({ A: '' }), []],
    ['a key that the deployment removes', [env({ A: '1' }), env({ A: '2' })], env({ A: null }), []],
    ['another key of the deployment', [env({ A: '1' }), env({ A: '2' })], env({ B: '1' }), ['environment.A ab']],
    ['removed here and empty there', [env({ A: null }), env({ A: '' })], {}, ['environment.A ab']],
    [
      'a port',
      [{ ports: [{ internal: 80, external: 1 }] }, { ports: [{ internal: 80, external: 2 }] }],
      {},
      ['ports.80/tcp ab'],
    ],
    [
      'equal ports, said in two ways',
      [{ ports: [{ internal: 80, external: null }] }, { ports: [{ internal: 80, protocol: 'tcp' }] }],
      {},
      [],
    ],
    [
      'one port for two protocols',
      [{ ports: [{ internal: 53, external: 1 }] }, { ports: [{ internal: 53, external: 2, protocol: 'udp' }] }],
      {},
      [],
    ],
    [
      'overlapping ranges, on one side',
      [{ portRanges: [range([1, 5], [11, 15])] }, { portRanges: [range([21, 25], [15, 19])] }],
      {},
      ['portRanges.1-5 ab', 'portRanges.21-25 ab'],
    ],
    [
      'overlapping ranges that the deployment takes out',
      [{ portRanges: [range([1, 5], [11, 15])] }, { portRanges: [range([5, 9], [35, 39])] }],
      { portRanges: [range([4, 6], [44, 46])] },
      [],
    ],
    [
      'overlapping ranges of which the deployment takes out one',
      [{ portRanges: [range([1, 5], [11, 15])] }, { portRanges: [range([5, 9], [35, 39])] }],
      { portRanges: [range([7, 9], [47, 49])] },
      ['portRanges.1-5 ab', 'portRanges.5-9 ab'],
    ],
    [
      'a path',
      [{ volumes: [{ name: 'a', path: '/x' }] }, { volumes: [{ name: 'b', path: '/x' }] }],
      {},
      ['volumes./x ab'],
    ],
    [
      'a volume name with two paths',
      [{ volumes: [{ name: 'a', path: '/x' }] }, { volumes: [{ name: 'a', path: '/y' }] }],
      {},
      ['volumes./x ab', 'volumes./y ab'],
    ],
    [
      'equal volumes',
      [{ volumes: [{ name: 'a', path: '/x' }] }, { volumes: [{ name: 'a', path: '/x', type: 'rwo', size: '' }] }],
      {},
      [],
    ],
    [
      'markers by section',
      [
        { labels: { service: [{ key: 'k', value: '1' }], ingress: [{ key: 'k', value: '1' }] } },
        { labels: { service: [{ key: 'k', value: '2' }], deployment: [{ key: 'k', value: '2' }] } },
      ],
      {},
      ['labels.service.k ab'],
    ],
    ['arguments', [{ args: [{ key: 'a' }] }, { args: [{ key: 'b' }] }, { args: [] }], {}, ['args ab']],
    [
      'what is united',
      [
        { networks: [{ key: 'a' }], customHeaders: [{ key: 'a' }], secrets: [{ key: 'a', required: true }] },
        { networks: [{ key: 'b' }], customHeaders: [{ key: 'b' }], secrets: [{ key: 'a', required: false }] },
      ],
      {},
      [],
    ],
    [
      'ulimits and hosts by key',
      [
        { ulimits: [{ key: 'nofile', soft: 1, hard: 1 }], extraHosts: [{ key: 'db', value: '10.0.0.1' }] },
        { ulimits: [{ key: 'nofile', soft: 1, hard: 2 }], extraHosts: [{ key: 'db', value: '10.0.0.1' }] },
      ],
      {},
      ['ulimits.nofile ab'],
    ],
  ])('finds the expected conflicts of %s', (_, bundles, deployment, expected) => {
    expect(said(bundles, deployment)).toEqual(expected)
  })

  it('reports conflicts with the names of the bundles, by field or by key', () => {
    const found = conflicts([{ tty: true, ...env({ A: '1' }) }, { tty: false }, env({ A: '2' })])
    expect(found).toEqual([
      {
        property: 'environment.A',
        field: 'environment',
        key: 'A',
        configIds: ['a', 'c'],
        error: 'ambiguousKeyInConfigs',
        description: 'A differs between the bundles bundle A and bundle C: set it in the deployment',
      },
      {
        property: 'tty',
        field: 'tty',
        configIds: ['a', 'b'],
        error: 'ambiguousInConfigs',
        description: 'tty differs between the bundles bundle A and bundle B: set it in the deployment',
      },
    ])
    expect(conflictFields(conflicts([env({ A: '1', B: '1' }), env({ A: '2', B: '2' })]))).toEqual(['environment'])
  })
})

describe('the order of bundles', () => {
  const key = fc.constantFrom('A', 'B')
  const port = fc.integer({ min: 1, max: 9 })
  const rows = <T>(row: fc.Arbitrary<T>, selector: (one: T) => unknown) =>
    fc.uniqueArray(row, { selector, maxLength: 3 })
  /** Rows of one valid layer, in which no row replaces another one. */
  const apart = <T>(row: fc.Arbitrary<T>, clash: (a: T, b: T) => boolean) =>
    fc.uniqueArray(row, { comparator: clash, maxLength: 3 })
  const span = fc.tuple(port, port, fc.integer({ min: 0, max: 2 }))
  const few = fc.record(
    {
      environment: rows(fc.record({ key, value: fc.constantFrom(null, '', '1') }), (row) => row.key),
      ports: rows(fc.record({ internal: port, external: fc.constantFrom(null, 1, 2) }), (row) => row.internal),
      portRanges: apart(
        span.map(([inside, outside, length]) => range([inside, inside + length], [outside, outside + length])),
        overlappingRanges,
      ),
      volumes: apart(
        fc.record({ name: fc.constantFrom('a', 'b', 'c'), path: fc.constantFrom('/x', '/y', '/z') }),
        sameVolume,
      ),
      labels: fc.record({ service: rows(fc.record({ key, value: fc.constantFrom(null, '1') }), (row) => row.key) }),
      args: fc.array(fc.record({ key }), { maxLength: 2 }),
      networks: rows(fc.record({ key }), (row) => row.key),
      secrets: rows(fc.record({ key, required: fc.boolean() }), (row) => row.key),
      user: fc.constantFrom(-1, 0, 1),
      name: fc.constantFrom('', 'web', 'db'),
      routing: fc.record({ domain: fc.constantFrom(null, '', 'a', 'b') }),
      resourceConfig: fc.record({ limits: fc.record({ cpu: fc.constantFrom('1', '2') }) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<ContainerConfigFields>
  const comesTo = (...layers: ContainerConfigFields[]) =>
    configParts(mergeLayers(layers.map((fields) => ({ source: 'config-bundle', fields }))))
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null).replaceAll('""', 'null'))
  const same = (left: ReturnType<typeof comesTo>, right: ReturnType<typeof comesTo>) =>
    [...new Set([...left.keys(), ...right.keys()])].every((path) =>
      path.startsWith('environment.')
        ? sameValue(left.get(path)?.value, right.get(path)?.value) && left.has(path) === right.has(path)
        : sameValue(plain(left.get(path)?.value), plain(right.get(path)?.value)),
    )

  const long = process.env.CRUX_TEST_FULL ? 600_000 : 30_000
  it(
    'affects the result exactly where there is a conflict',
    () => {
      fc.assert(
        fc.property(few, few, few, few, (image, a, b, deployment) => {
          const alike = same(comesTo(a, b, deployment), comesTo(b, a, deployment))
          expect(said([a, b], deployment).length === 0).toBe(alike)
          if (alike) expect(same(comesTo(image, a, b, deployment), comesTo(image, b, a, deployment))).toBe(true)
        }),
        { numRuns: process.env.CRUX_TEST_FULL ? 10_000 : 400 },
      )
    },
    long,
  )

  it(
    'does not affect the result of three bundles without a conflict',
    () => {
      fc.assert(
        fc.property(few, few, few, few, (a, b, c, deployment) => {
          fc.pre(said([a, b, c], deployment).length === 0)
          const one = comesTo(a, b, c, deployment)
          for (const other of [
            comesTo(c, b, a, deployment),
            comesTo(b, c, a, deployment),
            comesTo(b, a, c, deployment),
          ])
            expect(same(one, other)).toBe(true)
        }),
        { numRuns: process.env.CRUX_TEST_FULL ? 1_000 : 100 },
      )
    },
    long,
  )

  it('does not affect which conflicts are found', () => {
    fc.assert(
      fc.property(few, few, few, (a, b, deployment) => {
        const bundle = (name: string, fields: ContainerConfigFields) => ({ configId: name, name, fields })
        const found = (bundles: ReturnType<typeof bundle>[]) =>
          bundleConflicts(bundles, deployment)
            .map(({ property, configIds }) => `${property} ${[...configIds].sort()}`)
            .sort()
        const there = found([bundle('a', a), bundle('b', b)])
        expect(found([bundle('b', b), bundle('a', a)])).toEqual(there)
      }),
    )
  })
})
