import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { newProblems, validateConfig, validateRelease } from './config-validate.ts'
import { finalConfig } from './final-config.ts'

const errors = (config: ContainerConfigFields, options?: Parameters<typeof validateConfig>[1]) =>
  validateConfig(config, options).map((problem) => `${problem.property} ${problem.error}`)
const final = (image: ContainerConfigFields) =>
  finalConfig({ image, layers: [], imageName: 'app', versionName: '1' }).config

describe('validateConfig', () => {
  it.each<[string, ContainerConfigFields, string[]]>([
    ['an empty layer is fine', {}, []],
    [
      'a port inside a range, on either side',
      {
        ports: [{ internal: 85, external: 9005 }],
        portRanges: [{ internal: { from: 80, to: 90 }, external: { from: 9000, to: 9010 } }],
      },
      ['ports[0].internal port-range-overlap', 'ports[0].external port-range-overlap'],
    ],
    [
      'two ranges that overlap',
      {
        portRanges: [
          { internal: { from: 80, to: 90 }, external: { from: 9000, to: 9010 } },
          { internal: { from: 90, to: 92 }, external: { from: 8000, to: 8002 } },
        ],
      },
      ['portRanges[1] port-range-overlap'],
    ],
    [
      'one host port published twice',
      {
        ports: [
          { internal: 1, external: 80 },
          { internal: 2, external: 80 },
        ],
      },
      ['ports[1].external hostPortsAreUnique'],
    ],
    [
      'one host port on all addresses and on one of them',
      {
        ports: [
          { internal: 1, external: 80, bindAddress: '127.0.0.1' },
          { internal: 2, external: 80, bindAddress: '::' },
          { internal: 3, external: 80, bindAddress: '10.0.0.1' },
        ],
      },
      ['ports[1].external hostPortsAreUnique', 'ports[2].external hostPortsAreUnique'],
    ],
    [
      'one host port on two addresses or protocols is fine',
      {
        ports: [
          { internal: 1, external: 80, bindAddress: '127.0.0.1' },
          { internal: 2, external: 80, bindAddress: '10.0.0.1' },
          { internal: 1, external: 80, protocol: 'udp' },
        ],
      },
      [],
    ],
    ['a routed port that is not there', { ports: [{ internal: 1 }], routing: { port: 2 } }, ['routing.port oneOf']],
    ['a routed port while the layer has no ports', { routing: { port: 2 } }, []],
    ['a volume that leaves its folder', { volumes: [{ name: '../../etc', path: '/x' }] }, ['volumes[0].name matches']],
    ['a relative path inside', { volumes: [{ name: 'a', path: 'x' }] }, ['volumes[0].path matches']],
    ['a variable with an equals sign', { environment: [{ key: 'A=B', value: '' }] }, ['environment[0].key matches']],
    ['a label of ours', { dockerLabels: [{ key: 'dev.crux.team', value: 'x' }] }, ['dockerLabels[0].key reserved']],
    [
      'a capability neither added nor dropped',
      { capabilities: [{ key: 'NET_ADMIN', value: 'x' as 'add' }] },
      ['capabilities[0].value invalid_value'],
    ],
    ['a network that is a command line', { networks: [{ key: '--privileged' }] }, ['networks[0].key matches']],
    ['a proxy rule that breaks out of its quotes', { routing: { path: '/`)||Path(`/' } }, ['routing.path matches']],
    [
      'a path beyond printable ASCII, wherever it ends in an HTTP request or a header',
      {
        ports: [{ internal: 80 }],
        routing: { path: '/日', port: 80 },
        healthCheckConfig: {
          startupProbe: '/日',
          readinessProbe: '/a\u007f',
          livenessProbe: '/\u0000',
        },
        metrics: { enabled: true, path: '/\u00a0', port: 80 },
      },
      [
        'healthCheckConfig.livenessProbe matches',
        'routing.path matches',
        'healthCheckConfig.startupProbe matches',
        'healthCheckConfig.readinessProbe matches',
        'metrics.path matches',
      ],
    ],
    [
      'a percent-encoded path with a query is fine',
      { healthCheckConfig: { startupProbe: '/%E6%97%A5?deep=1&x=~a' } },
      [],
    ],
    [
      'a storage without a bucket',
      { storage: { storageId: '0199f0e0-0000-7000-8000-000000000001' } },
      ['storage.bucket required', 'storage.path required'],
    ],
    [
      'a duplicate key',
      {
        environment: [
          { key: 'A', value: '1' },
          { key: 'A', value: '2' },
        ],
      },
      ['environment[1].key keysAreUnique'],
    ],
    ['a port out of bounds', { ports: [{ internal: 70_000 }] }, ['ports[0].internal too_big']],
    [
      'metrics on a foreign port',
      { ports: [{ internal: 1 }], metrics: { enabled: true, port: 2 } },
      ['metrics.port metric-port'],
    ],
  ])('checks %s', (_, config, expected) => {
    expect(errors(config)).toEqual(expected)
  })

  it('requires a DNS label of at most 63 characters once the prefix is known', () => {
    expect(errors({ name: 'My_App' })).toEqual([])
    expect(errors({ name: 'My_App' }, { prefix: 'shop' })).toEqual(['name matches'])
    expect(errors({ name: 'a'.repeat(60) }, { prefix: 'shop' })).toEqual(['name max'])
    expect(errors({ name: 'web' }, { prefix: 'shop' })).toEqual([])
  })

  it('requires the routed port in a merged configuration', () => {
    expect(errors({ routing: { port: 2 } }, { whole: true })).toEqual(['routing.port oneOf'])
  })

  it('counts only what a change makes worse', () => {
    const before = validateConfig({ routing: { port: 2 }, ports: [{ internal: 1 }] })
    const after = validateConfig({ routing: { port: 2 }, ports: [{ internal: 1 }], networks: [{ key: '-x' }] })
    expect(newProblems(before, after).map((problem) => problem.property)).toEqual(['networks[0].key'])
  })
})

describe('validateRelease', () => {
  it('finds equal names and equal host ports, and reports their instances', () => {
    const problems = validateRelease('shop', [
      { config: final({ name: 'web', ports: [{ internal: 80, external: 8080 }] }) },
      {
        config: final({
          name: 'api',
          portRanges: [{ internal: { from: 1, to: 10 }, external: { from: 8075, to: 8084 } }],
        }),
      },
      { config: final({ name: 'web' }) },
    ])
    expect(problems).toEqual([
      expect.objectContaining({
        property: 'instances[1].config.portRanges[0].external',
        error: 'hostPortsAreUnique',
        description: 'Port 8080 of the node is published by web too',
      }),
      expect.objectContaining({ property: 'instances[2].config.name', error: 'containerNameAreUnique' }),
    ])
  })

  it('finds two volumes that would be one claim of a cluster, and not on a Docker node', () => {
    const instances = [
      { config: final({ name: 'a', volumes: [{ name: 'b-c', path: '/data' }] }) },
      { config: final({ name: 'a-b', volumes: [{ name: 'c', path: '/data' }] }) },
    ]
    expect(validateRelease('shop', instances, 'k8s')).toEqual([
      expect.objectContaining({
        property: 'instances[1].config.volumes[0].name',
        description: expect.stringContaining('would both be the claim a-b-c'),
      }),
    ])
    expect(validateRelease('shop', instances, 'docker')).toEqual([])
  })

  it('accepts two images without names', () => {
    const named = (imageName: string) => ({
      config: finalConfig({ image: {}, layers: [], imageName, versionName: '1' }).config,
    })
    expect(validateRelease('shop', [named('library/nginx'), named('library/redis')])).toEqual([])
  })
})
