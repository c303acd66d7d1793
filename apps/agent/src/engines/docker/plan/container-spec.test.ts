import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import { bytesOfQuantity } from '@crux/rules'
import { describe, expect, test } from 'vitest'
import { makeConfig } from '../../../../test/kit/releases.ts'
import { label } from '../../labels.ts'
import { networkName } from '../containers/names.ts'
import { toDesiredInstance } from './container-spec.ts'
import { pathsOverlap } from './mounts.ts'
import { configHash } from './transition.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
type Config = Parameters<typeof makeConfig>[0]
function toSpec(
  config: Partial<Config>,
  more: {
    allowed?: boolean
    prefix?: string
    configJson?: string
    rootDomain?: string
    serverUrl?: string
    image?: [name: string, tag: string]
  } = {},
) {
  const release = create(ReleaseSchema, {
    key: { deploymentId: 'd', number: 1 },
    owner: { ...owner, prefix: more.prefix ?? 'shop' },
    hostDangerousAllowed: more.allowed ?? false,
    instances: [
      {
        instanceId: 'i',
        imageName: more.image?.[0] ?? 'r/app',
        imageTag: more.image?.[1] ?? '1',
        configJson: more.configJson ?? JSON.stringify(makeConfig({ name: 'web', ...config })),
      },
    ],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('one instance')
  const { rootDomain, serverUrl } = more
  return toDesiredInstance(release, instance, { dataMountPath: '/data', seesHost: true, rootDomain, serverUrl })
}

describe('toDesiredInstance', () => {
  test('gives a host port to every published port of a range and none to internal ports', () => {
    const { base } = toSpec({
      ports: [{ internal: 1 }],
      portRanges: [{ internal: { from: 10, to: 12 }, external: { from: 20, to: 22 } }],
    })
    expect(base.published.map(({ containerPort, hostPort }) => [containerPort, hostPort])).toEqual([
      [10, 20],
      [11, 21],
      [12, 22],
    ])
  })

  test('keeps user and entrypoint of the image where nothing is set and for the user -1', () => {
    expect(toSpec({ user: -1 }).base).toMatchObject({
      user: undefined,
      entrypoint: [],
      command: [],
      workingDirectory: undefined,
    })
    expect(toSpec({ user: 0 }).base.user).toBe('0')
  })

  test('does not restart a container that is expected to end unless a policy is set', () => {
    expect(toSpec({}).base.restartPolicy.name).toBe('unless-stopped')
    expect(toSpec({ expectedState: { state: 'exited' } }).base.restartPolicy.name).toBe('no')
    expect(toSpec({ expectedState: { state: 'exited' }, restartPolicy: 'always' }).base.restartPolicy.name).toBe(
      'always',
    )
  })

  test('keeps the labels of the configuration beside those of the agent', () => {
    const { base } = toSpec({ dockerLabels: [{ key: 'mine', value: 'y' }] })
    expect(base.labels).toMatchObject({ [label.team]: 'team', mine: 'y' })
  })

  test('puts an exposed container on the network of its prefix whatever its network mode is', () => {
    expect(toSpec({ networkMode: 'none' }).base.networkMode).toBe('none')
    expect(toSpec({ networkMode: 'none', expose: 'expose', routing: { domain: 'a.b' } }).base.networkMode).toBe(
      networkName(owner),
    )
  })

  test('derives the host from the root domain where none is given', () => {
    const rule = 'traefik.http.routers.shop-web.rule'
    expect(toSpec({ expose: 'expose' }, { rootDomain: 'd.io' }).base.labels[rule]).toBe('Host(`web.shop.d.io`)')
    expect(() => toSpec({ expose: 'expose' })).toThrow('needs a domain or a path')
  })

  test('routes by a path alone where host-dangerous options are allowed', () => {
    const { base } = toSpec({ expose: 'expose', routing: { path: '/only' } }, { allowed: true })
    expect(base.labels['traefik.http.routers.shop-web.rule']).toBe('PathPrefix(`/only`)')
  })

  test.each(['crux.example.com', 'Crux.example.com', '*.example.com'])('routes no host name of Crux: %s', (domain) => {
    const nodeEnvironment = { serverUrl: 'https://crux.example.com:8443' }
    expect(() => toSpec({ expose: 'expose', routing: { domain, path: '/x' } }, nodeEnvironment)).toThrow(
      'is the host name of Crux',
    )
  })

  test.each<[string, Partial<Config>, string]>([
    [
      'a routing port that the container has not',
      { expose: 'expose', routing: { domain: 'a.b', port: 99 } },
      'none of the container',
    ],
    [
      'a host that would break out of the rule',
      { expose: 'expose', routing: { domain: 'a`) || Host(`b' } },
      'is not a host name',
    ],
    [
      'an upload limit that is no size',
      { expose: 'expose', routing: { domain: 'a.b', uploadLimit: 'much' } },
      'is not a size',
    ],
    [
      'a volume that leads out of its directory',
      { volumes: [{ name: 'a/../../b', path: '/x' }] },
      'is not a name for a volume',
    ],
    [
      'a path of the host',
      { volumes: [{ name: '/var/run/docker.sock', path: '/x' }] },
      "volumes[0].name: It holds the engine's socket: a process that reaches it is root on the node. It needs an admin's permission",
    ],
    ['a log driver that reaches the node', { logConfig: { driver: 'syslog' } }, 'logConfig.driver: The engine runs'],
    [
      'an address among the options of any log driver',
      { logConfig: { driver: 'json-file', options: [{ key: 'splunk-url', value: 'http://127.0.0.1' }] } },
      'logConfig.options[0].key: The engine follows the log option splunk-url as root',
    ],
    [
      'a limit that takes the node',
      { ulimits: [{ key: 'rtprio', soft: 1, hard: 99 }] },
      'ulimits[0].key: With real-time',
    ],
    ['more memory than a node may spare', { shmSize: '100Gi' }, 'shmSize: Files in memory of more than 1Gi'],
    ['a label of ours', { dockerLabels: [{ key: 'Dev.Crux.team', value: 'x' }] }, 'say whose a container is'],
    [
      'a label that a proxy obeys',
      { dockerLabels: [{ key: 'traefik.http.routers.x.rule', value: 'Host(`a.b`)' }] },
      "needs an admin's permission",
    ],
    ['a network of the engine', { networks: [{ key: 'engine:db' }] }, "needs an admin's permission"],
    ['a mode as a network', { networks: [{ key: 'host' }] }, 'choose it as the network mode'],
    [
      'a route for every host name',
      { expose: 'expose', routing: { path: '/api' } },
      'a route without a host name answers for every host name',
    ],
    [
      'a config container without a volume of its own',
      { configContainer: { image: 'i', volume: 'v', path: '/', keepFiles: false } },
      'the config container writes into the volume v, which is none of this container',
    ],
  ])('refuses %s', (_, config, reason) => {
    expect(() => toSpec(config)).toThrow(reason)
  })

  test('limits a memory volume without a size to the default of /dev/shm instead of half of the memory of the node', () => {
    const { mounts } = toSpec({ volumes: [{ name: 'm', path: '/m', type: 'mem' }] }).base
    expect(mounts).toEqual([{ kind: 'memory', target: '/m', source: '', writable: true, sizeBytes: 64 * 1024 ** 2 }])
  })

  test('refuses the id of an image in place of a name also for preparations', () => {
    const id = 'a'.repeat(64)
    expect(() => toSpec({}, { image: ['sha256', id] })).toThrow('is the id of an image')
    expect(() =>
      toSpec({ initContainers: [{ name: 'i', image: `sha256:${id}`, useParentConfig: false }] }, { allowed: true }),
    ).toThrow('is not the name of an image')
  })

  test('refuses a prefix and name that are no DNS label together and an invalid configuration', () => {
    expect(() => toSpec({ name: 'w'.repeat(60) })).toThrow('at most 63 characters')
    expect(() => toSpec({}, { prefix: '-shop' })).toThrow('is not a DNS label')
    expect(() => toSpec({}, { configJson: '{' })).toThrow('is not JSON')
    expect(() => toSpec({}, { configJson: '{"name":"web"}' })).toThrow('is not valid')
  })

  test('allows host-dangerous options where the release allows them', () => {
    expect(toSpec({ networkMode: 'host' }, { allowed: true }).base.networkMode).toBe('host')
    expect(toSpec({ volumes: [{ name: '/srv/x', path: '/x' }] }, { allowed: true }).base.mounts[0]?.source).toBe(
      '/srv/x',
    )
    expect(
      toSpec({ capabilities: [{ key: 'CAP_SYS_ADMIN', value: 'add' }] }, { allowed: true }).base.capabilities.add,
    ).toEqual(['SYS_ADMIN'])
  })
})

describe('configHash', () => {
  test('depends on everything except row ids, the order of keys and unset values', () => {
    const one = makeConfig({ name: 'web', ports: [{ id: '0190a6de-0000-7000-8000-000000000000', internal: 1 }] })
    const two = makeConfig({ ports: [{ internal: 1, external: null }], name: 'web', user: null })
    expect(configHash('d', one)).toBe(configHash('d', two))
    expect(configHash('d', one)).not.toBe(configHash('e', one))
    expect(configHash('d', one)).not.toBe(configHash('d', makeConfig({ name: 'web', ports: [{ internal: 2 }] })))
  })
})

describe('paths and quantities of mounts', () => {
  test('overlap where one path lies inside the other and not where both only start alike', () => {
    expect(pathsOverlap('/a/b', '/a')).toBe(true)
    expect(pathsOverlap('/', '/a')).toBe(true)
    expect(pathsOverlap('/a/b', '/a/bc')).toBe(false)
  })
  test('are parsed from the notation of Kubernetes', () => {
    expect(['512Mi', '1G', '10', 'x'].map(bytesOfQuantity)).toEqual([536_870_912, 1_000_000_000, 10, undefined])
  })
})
