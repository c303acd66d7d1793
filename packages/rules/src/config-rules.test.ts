import { type ContainerConfigFields, limits } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { validateConfig, validateRelease } from './config-validate.ts'
import { finalConfig } from './final-config.ts'

const storageId = '0199f0e0-0000-7000-8000-000000000001'
const volume = { name: 'data', path: '/data' }
const init = { name: 'migrate', image: 'app:1', useParentConfig: false }
const errors = (config: ContainerConfigFields, options?: Parameters<typeof validateConfig>[1]) =>
  validateConfig(config, options).map((problem) => `${problem.property} ${problem.error}`)
type Case = [string, ContainerConfigFields, string[]]

describe('validateConfig of one layer', () => {
  it.each<Case>([
    [
      'an address without a port of the node',
      { ports: [{ internal: 80, bindAddress: '127.0.0.1' }] },
      ['ports[0].external required'],
    ],
    [
      'an address that is none',
      { ports: [{ internal: 80, external: 1, bindAddress: 'eth0' }] },
      ['ports[0].bindAddress invalid_union'],
    ],
    [
      'the PROXY protocol before UDP',
      { ports: [{ internal: 53, external: 53, protocol: 'udp', proxyProtocol: 'v1' }] },
      ['ports[0].proxyProtocol oneOf'],
    ],
    [
      'the PROXY protocol while another layer may have the gate',
      { ports: [{ internal: 80, external: 80, proxyProtocol: 'v1' }] },
      [],
    ],
    ['several hosts', { routing: { domain: 'shop.example.com, *.example.org ,localhost' } }, []],
    ['a host with an underscore', { routing: { domain: 'shop.example.com,my_shop' } }, ['routing.domain matches']],
    ['an upload limit', { routing: { uploadLimit: '1.5 GiB' } }, []],
    ['an upload limit that is no size', { routing: { uploadLimit: '10 files' } }, ['routing.uploadLimit matches']],
    [
      'a route to a port of a range',
      { portRanges: [{ internal: { from: 80, to: 90 }, external: { from: 80, to: 90 } }], routing: { port: 85 } },
      [],
    ],
    [
      'a probe that is no path',
      { healthCheckConfig: { readinessProbe: '/a b' } },
      ['healthCheckConfig.readinessProbe matches'],
    ],
    ['a path of metrics', { metrics: { enabled: true, path: 'metrics' } }, ['metrics.path matches']],
    [
      'metrics that are switched off',
      { metrics: { enabled: false, path: 'metrics', port: 1 }, ports: [{ internal: 2 }] },
      [],
    ],
    ['a volume over the whole container', { volumes: [{ name: 'a', path: '/./' }] }, ['volumes[0].path matches']],
    [
      'two volumes at one place',
      { volumes: [volume, { name: 'b', path: '/data/' }] },
      ['volumes[1].path keysAreUnique'],
    ],
    ['a volume that is no folder', { volumes: [{ name: 'a/./b', path: '/a' }] }, ['volumes[0].name matches']],
    ['a volume below another one', { volumes: [{ name: 'a/b', path: '/a' }] }, ['volumes[0].name matches']],
    ['a volume of no size', { volumes: [{ ...volume, type: 'mem', size: '0Mi' }] }, ['volumes[0].size min']],
    ['a negative size', { shmSize: '-1Mi' }, ['shmSize min']],
    ['no cores', { resourceConfig: { limits: { cpu: '0' } } }, ['resourceConfig.limits.cpu min']],
    [
      'more requested than allowed',
      { resourceConfig: { limits: { cpu: '0.5', memory: '1G' }, requests: { cpu: '501m', memory: '1Gi' } } },
      ['resourceConfig.requests.cpu max', 'resourceConfig.requests.memory max'],
    ],
    ['equal limits and requests', { resourceConfig: { limits: { cpu: '0.5' }, requests: { cpu: '500m' } } }, []],
    ['no limit of open files', { ulimits: [{ key: 'nofile', soft: 1, hard: -1 }] }, ['ulimits[0].hard max']],
    ['no limit of locked memory', { ulimits: [{ key: 'memlock', soft: -1, hard: -1 }] }, []],
    ['a soft limit above the hard one', { ulimits: [{ key: 'nproc', soft: 2, hard: 1 }] }, ['ulimits[0].soft custom']],
    ['a host of /etc/hosts', { extraHosts: [{ key: 'db.internal', value: 'host-gateway' }] }, []],
    [
      'a host without an address',
      { extraHosts: [{ key: 'db', value: 'other' as 'host-gateway' }] },
      ['extraHosts[0].value invalid_union'],
    ],
    [
      'a capability that is none',
      { capabilities: [{ key: 'SYS_EVERYTHING', value: 'add' }] },
      ['capabilities[0].key oneOf'],
    ],
    [
      'a capability in two spellings',
      {
        capabilities: [
          { key: 'CAP_NET_ADMIN', value: 'add' },
          { key: 'net_admin', value: 'drop' },
        ],
      },
      ['capabilities[1].key keysAreUnique'],
    ],
    ['a network that is a mode', { networks: [{ key: 'bridge' }] }, ['networks[0].key reserved']],
    ['a header that is none', { customHeaders: [{ key: 'X:Y' }] }, ['customHeaders[0].key matches']],
    ['a relative working directory', { workingDirectory: 'app' }, ['workingDirectory matches']],
    ['half a character', { environment: [{ key: 'A', value: 'a\ud800b' }] }, ['environment[0].value matches']],
    ['the character NUL', { environment: [{ key: 'A', value: 'a\0b' }] }, ['environment[0].value matches']],
    ['a storage without its bucket', { storage: { storageId, path: 'data' } }, ['storage.bucket required']],
    [
      'a bucket that leads out of itself',
      { storage: { storageId, bucket: 'a/../b', path: 'data' } },
      ['storage.bucket matches'],
    ],
    ['a bucket by version', { storage: { storageId, bucket: 'assets/{{ versionName }}', path: 'data' } }, []],
    ['a name without end', { name: 'a'.repeat(70) }, ['name too_big']],
    ['a name of one letter, as an image may give it', { name: 'a' }, []],
    ['no storage', { storage: { storageId: null, bucket: '' } }, []],
    [
      'a config container without a volume',
      { configContainer: { image: 'busybox', volume: '', path: '/etc', keepFiles: false } },
      ['configContainer.volume too_small'],
    ],
    [
      'a config container of a relative folder of no image',
      { configContainer: { image: 'Busy Box', volume: 'data', path: 'etc', keepFiles: false } },
      ['configContainer.path matches', 'configContainer.image matches'],
    ],
    [
      'an image by digest, of a registry',
      { initContainers: [{ ...init, image: `localhost:5000/app@sha256:${'a'.repeat(64)}` }] },
      [],
    ],
    [
      'a digest that is none',
      { initContainers: [{ ...init, image: 'app@sha256:abc' }] },
      ['initContainers[0].image matches'],
    ],
    [
      'an init container that is no DNS label',
      { initContainers: [{ ...init, name: 'My_Init' }] },
      ['initContainers[0].name matches'],
    ],
    ['two init containers of one name', { initContainers: [init, init] }, ['initContainers[1].name keysAreUnique']],
    [
      'rows of an init container',
      {
        initContainers: [
          {
            ...init,
            environment: [{ key: 'A=B', value: '' }],
            volumes: [
              { name: 'data', path: 'x' },
              { name: 'data', path: '/y' },
              { name: 'data', path: '/y/' },
            ],
          },
        ],
      },
      [
        'initContainers[0].environment[0].key matches',
        'initContainers[0].volumes[0].path matches',
        'initContainers[0].volumes[2].path keysAreUnique',
      ],
    ],
  ])('checks %s', (_, config, expected) => {
    expect(errors(config)).toEqual(expected)
  })

  it.each<
    [string, NonNullable<NonNullable<ContainerConfigFields['logConfig']>['driver']>, Record<string, string>, string[]]
  >([
    [
      'rotated and compressed files',
      'json-file',
      { 'max-size': '10m', 'max-file': '3', compress: 'true', tag: 'x' },
      [],
    ],
    ['compression without rotation', 'json-file', { compress: 'true' }, ['logConfig.options[0].value oneOf']],
    ['compression where files rotate by themselves', 'local', { compress: 'true' }, []],
    ['an option that the driver does not know, which the engine judges', 'local', { 'logger-key': 'x' }, []],
    ['an option of every driver', 'gelf', { mode: 'non-blocking', 'max-buffer-size': '4m' }, []],
    ['a buffer that nothing uses', 'gelf', { 'max-buffer-size': '4m' }, ['logConfig.options[0].key oneOf']],
    [
      'sizes and counts that are none',
      'local',
      { 'max-size': 'much', 'max-file': '0' },
      ['logConfig.options[0].value matches', 'logConfig.options[1].value matches'],
    ],
    ['a name that every object has', 'local', { constructor: 'x' }, []],
    ['options of the node', 'nodeDefault', { anything: 'x' }, []],
  ])('checks log options: %s', (_, driver, options, expected) => {
    const rows = Object.entries(options).map(([key, value]) => ({ key, value }))
    expect(errors({ logConfig: { driver, options: rows } })).toEqual(expected)
  })

  it('lets a layer route to a port of the layer below', () => {
    const layer: ContainerConfigFields = { ports: [{ internal: 9090 }], routing: { port: 80 } }
    expect(errors(layer)).toEqual(['routing.port oneOf'])
    expect(errors(layer, { below: { ports: [{ internal: 80 }] } })).toEqual([])
    expect(errors(layer, { below: { ports: [{ internal: 81 }] } })).toEqual(['routing.port oneOf'])
    expect(errors(layer, { below: 'unknown' })).toEqual([])
  })

  it('reports each property once, and checks the other fields when one has the wrong form', () => {
    const broken = {
      ports: 'none',
      portRanges: [{ internal: { from: 1 } }],
      volumes: [{ name: 'a', path: 'x' }],
      environment: [{ key: 'A B=C', value: '' }],
    } as unknown as ContainerConfigFields
    expect(errors(broken)).toEqual([
      'environment[0].key invalid_format',
      'ports invalid_type',
      'portRanges[0].internal.to invalid_type',
      'portRanges[0].external invalid_type',
      'volumes[0].path matches',
    ])
  })

  it('accepts no more rows than a list may have', () => {
    const environment = Array.from({ length: limits.listEntries + 1 }, (_, index) => ({ key: `K${index}`, value: '' }))
    expect(errors({ environment })).toEqual(['environment too_big'])
  })
})

describe('validateConfig of a whole configuration', () => {
  const whole = { whole: true, nodeType: 'docker' } as const
  const published = { ports: [{ internal: 80, external: 8080 }] }
  it.each<Case>([
    [
      'a gate without a published port',
      { portGate: { enabled: true }, ports: [{ internal: 80 }] },
      ['portGate.enabled required'],
    ],
    [
      'a gate before UDP alone',
      { portGate: { enabled: true }, ports: [{ internal: 53, external: 53, protocol: 'udp' }] },
      ['portGate.enabled required'],
    ],
    [
      'a gate on the host network',
      { portGate: { enabled: true }, networkMode: 'host', ...published },
      ['portGate.enabled oneOf'],
    ],
    ['a gate that is switched off', { portGate: { enabled: false } }, []],
    [
      'the PROXY protocol of a gate',
      { portGate: { enabled: true }, ports: [{ internal: 80, external: 8080, proxyProtocol: 'v2' }] },
      [],
    ],
    [
      'the PROXY protocol without a gate',
      { ports: [{ internal: 80, external: 8080, proxyProtocol: 'v2' }] },
      ['ports[0].proxyProtocol oneOf'],
    ],
    [
      'the PROXY protocol at a port that is not published',
      {
        portGate: { enabled: true },
        ports: [
          { internal: 80, proxyProtocol: 'v2' },
          { internal: 81, external: 81 },
        ],
      },
      ['ports[0].proxyProtocol oneOf'],
    ],
    [
      'a probe of a container without ports',
      { healthCheckConfig: { startupProbe: '/' } },
      ['healthCheckConfig.port required'],
    ],
    ['a probe of the first port', { healthCheckConfig: { startupProbe: '/' }, ...published }, []],
    ['metrics without a port', { metrics: { enabled: true }, ...published }, ['metrics.port metric-port']],
    ['a storage and its volume', { storage: { storageId, bucket: 'b', path: 'data' }, volumes: [volume] }, []],
    [
      'a storage without its volume',
      { storage: { storageId, bucket: 'b', path: 'files' }, volumes: [volume] },
      ['storage.path oneOf'],
    ],
    [
      'a storage into memory',
      { storage: { storageId, bucket: 'b', path: 'data' }, volumes: [{ ...volume, type: 'mem' }] },
      ['storage.path oneOf'],
    ],
    [
      'a config container without its volume',
      { configContainer: { image: 'busybox', volume: 'files', path: '/etc', keepFiles: true } },
      ['configContainer.volume oneOf'],
    ],
    [
      'an init container without its volume',
      { initContainers: [{ ...init, volumes: [{ name: 'files', path: '/f' }] }], volumes: [volume] },
      ['initContainers[0].volumes[0].name oneOf'],
    ],
    [
      'too little memory for Docker',
      { resourceConfig: { limits: { memory: '4Mi' } } },
      ['resourceConfig.limits.memory min'],
    ],
  ])('checks %s', (_, config, expected) => {
    expect(errors(config, whole)).toEqual(expected)
  })

  it('allows an unlimited memory volume on Kubernetes, where containers share its memory', () => {
    const config: ContainerConfigFields = {
      configContainer: { image: 'busybox', volume: 'data', path: '/etc', keepFiles: true },
      volumes: [{ ...volume, type: 'mem' }],
      resourceConfig: { limits: { memory: '4Mi' } },
    }
    expect(errors(config, { whole: true, nodeType: 'k8s' })).toEqual([])
    expect(errors(config, { whole: true })).toEqual([])
  })

  it('includes the prefix and the name in the length of the name of an init container', () => {
    const config: ContainerConfigFields = { name: 'web', initContainers: [{ ...init, name: 'a'.repeat(55) }] }
    expect(errors(config)).toEqual([])
    expect(errors(config, { prefix: 'shop' })).toEqual(['initContainers[0].name max'])
  })

  it('finds a container that would have the name of an init container of another one', () => {
    const make = (fields: ContainerConfigFields) =>
      finalConfig({ image: fields, layers: [], imageName: 'app', versionName: '1' })
    const found = validateRelease('shop', [
      make({ name: 'web', initContainers: [init] }),
      make({ name: 'web-migrate' }),
    ])
    expect(found.map((problem) => `${problem.property} ${problem.error}`)).toEqual([
      'instances[1].config.name containerNameAreUnique',
    ])
  })
})
