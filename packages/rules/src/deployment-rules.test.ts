import { type ContainerConfigFields, deploymentStatuses, versionTypes } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pauseReason } from './deployment-pause.ts'
import {
  deploymentAction,
  isCopiable,
  isDeletable,
  isDeployable,
  isMutable,
  nodeTakesCommands,
  nodeTakesDeployments,
} from './deployment-status.ts'
import { finalConfig } from './final-config.ts'
import {
  formatPort,
  formatPortRange,
  formatVolume,
  parsePort,
  parsePortRange,
  parseRestartPolicy,
  parseVolume,
} from './string-parsers.ts'

describe('the status table', () => {
  it('is the same as in the specification', () => {
    const table = deploymentStatuses.flatMap((status) =>
      versionTypes.map((versionType) => {
        const facts = { status, versionType }
        const marks = [isMutable, isDeployable, isDeletable, isCopiable].map((may) => (may(facts) ? 'y' : 'n')).join('')
        return `${status} ${versionType} ${marks}`
      }),
    )
    expect(table).toEqual([
      'preparing incremental yyyy',
      'preparing rolling yyyy',
      'in-progress incremental nnnn',
      'in-progress rolling nnnn',
      'successful incremental nnyy',
      'successful rolling yyyy',
      'failed incremental yyyy',
      'failed rolling yyyy',
      'obsolete incremental nyyy',
      'obsolete rolling nyyy',
    ])
  })

  it('contains a reason for every refusal', () => {
    for (const status of deploymentStatuses)
      for (const action of ['edit', 'deploy', 'delete', 'copy', 'cancel', 'roll-back', 'read-log'] as const) {
        const verdict = deploymentAction(action, { status, versionType: 'incremental' })
        expect(verdict.allowed || verdict.reason.length > 10).toBe(true)
      }
    expect(nodeTakesDeployments({ name: 'eu-1', status: 'unreachable' })).toEqual({
      allowed: false,
      reason: 'eu-1 is not connected',
    })
    expect(nodeTakesDeployments({ name: 'eu-1', status: 'connected' }).allowed).toBe(true)
    expect(nodeTakesDeployments({ name: 'eu-1', status: 'updating' }).allowed).toBe(true)
    expect(nodeTakesCommands({ name: 'eu-1', status: 'updating' })).toEqual({
      allowed: false,
      reason: 'The agent of eu-1 is being updated: try again when the update has ended',
    })
    expect(nodeTakesCommands({ name: 'eu-1', status: 'connected' }).allowed).toBe(true)
  })
})

describe('pauseReason', () => {
  const container = (fields: ContainerConfigFields, image = {}) => {
    const { config } = finalConfig({ image: { name: 'web', ...fields }, layers: [], imageName: 'x', versionName: '1' })
    return { name: config.name, config, image }
  }
  const reason = (next: ReturnType<typeof container>, ...current: ReturnType<typeof container>[]) =>
    pauseReason('shop', next, current)

  it('is absent for the first deployment and where both containers can run at once', () => {
    const published = container({ ports: [{ internal: 80, external: 80 }] })
    expect(reason(published)).toBeUndefined()
    expect(reason(container({ ports: [{ internal: 80 }] }), container({ ports: [{ internal: 80 }] }))).toBeUndefined()
    const reader = { volumes: [{ name: 'data', path: '/d', type: 'ro' as const }] }
    expect(reason(container(reader), container(reader))).toBeUndefined()
    const memory = { volumes: [{ name: 'data', path: '/d', type: 'mem' as const }] }
    expect(reason(container(memory), container(memory))).toBeUndefined()
  })

  it.each<[string, ContainerConfigFields, ContainerConfigFields, RegExp]>([
    [
      'the same host port',
      { ports: [{ internal: 80, external: 80 }] },
      { ports: [{ internal: 81, external: 80 }] },
      /publish port 80/,
    ],
    ['the host network', { networkMode: 'host' }, { networkMode: 'host' }, /host network/],
    [
      'a volume that an init container writes',
      {
        volumes: [{ name: 'd', path: '/d', type: 'ro' }],
        initContainers: [
          { name: 'fill', image: 'busybox', useParentConfig: false, volumes: [{ name: 'd', path: '/v' }] },
        ],
      },
      { volumes: [{ name: 'd', path: '/d', type: 'ro' }] },
      /write to d/,
    ],
    [
      'a volume that the new one may write',
      { volumes: [{ name: 'd', path: '/d' }] },
      { volumes: [{ name: 'd', path: '/d', type: 'ro' }] },
      /write to d/,
    ],
    [
      'rwx too, inside one instance',
      { volumes: [{ name: 'd', path: '/d', type: 'rwx' }] },
      { volumes: [{ name: 'd', path: '/d', type: 'rwx' }] },
      /write to d/,
    ],
    [
      'overlapping paths',
      { volumes: [{ name: '/srv/data', path: '/d' }] },
      { volumes: [{ name: '/srv', path: '/d' }] },
      /write to \/srv\/data/,
    ],
    [
      'overlapping folders',
      { volumes: [{ name: 'a/b', path: '/d' }] },
      { volumes: [{ name: 'a', path: '/d' }] },
      /write to a\/b/,
    ],
    [
      'a changed route',
      { expose: 'expose', routing: { domain: 'a' } },
      { expose: 'expose', routing: { domain: 'b' } },
      /route/,
    ],
    ['a route without health check', { expose: 'expose' }, { expose: 'expose' }, /health check/],
  ])('is %s', (_, next, old, expected) => {
    expect(reason(container(next), container(old))).toMatch(expected)
  })

  it('names another container that holds the port, or data that the image keeps to itself', () => {
    const ports = [{ internal: 80, external: 80 }]
    expect(reason(container({ ports }), container({ name: 'proxy', ports }))).toBe('proxy publishes port 80 until now')
    expect(reason(container({}, { declaredVolumes: ['/var/lib/db'] }), container({}))).toMatch(
      /keeps data in \/var\/lib\/db/,
    )
  })

  it('is absent for a routed container with a health check', () => {
    const routed = container({ expose: 'expose' }, { hasHealthCheck: true })
    expect(reason(routed, routed)).toBeUndefined()
  })

  it('is absent where the gate holds the port for both, and names the change to or from the gate', () => {
    const ports = [{ internal: 80, external: 80 }]
    const gated = container({ ports, portGate: { enabled: true } })
    const plain = container({ ports, portGate: { enabled: false } })
    expect(reason(gated, gated)).toBeUndefined()
    expect(reason(gated, plain)).toBe('Port 80 passes to the gate, once')
    expect(reason(plain, gated)).toBe('Port 80 passes from the gate to the engine')
    const udp = [{ internal: 53, external: 53, protocol: 'udp' as const }, ...ports]
    const both = container({ ports: udp, portGate: { enabled: true } })
    expect(reason(both, both)).toBe('Only one container at a time can publish port 53/udp')
  })

  it('does not treat directories with a common prefix as the same', () => {
    expect(
      reason(
        container({ volumes: [{ name: 'data2', path: '/d' }] }),
        container({ volumes: [{ name: 'data', path: '/e' }] }),
      ),
    ).toBeUndefined()
  })
})

describe('shorthands', () => {
  it('reads ports, external before internal', () => {
    expect(parsePort('80')).toEqual({ internal: 80, external: null })
    expect(parsePort('8080:80')).toEqual({ internal: 80, external: 8080 })
    expect(parsePort('127.0.0.1:5353:53/udp')).toEqual({
      internal: 53,
      external: 5353,
      protocol: 'udp',
      bindAddress: '127.0.0.1',
    })
    expect(parsePort('[::1]:8080:80')).toMatchObject({ bindAddress: '::1' })
    for (const bad of ['', '0', '65536', '80:80:80', 'x', '80/icmp', '-1']) expect(parsePort(bad)).toBeUndefined()
    expect(parsePortRange('8000-8010:9000-9010')).toEqual({
      external: { from: 8000, to: 8010 },
      internal: { from: 9000, to: 9010 },
    })
    for (const bad of ['8000-8010:9000-9011', '10-1', '1-2:3-4:5-6', '80']) expect(parsePortRange(bad)).toBeUndefined()
  })

  it('reads volumes and restart policies in their common spellings', () => {
    expect(parseVolume('data:/var/lib:ro')).toEqual({ name: 'data', path: '/var/lib', type: 'ro' })
    expect(parseVolume('data:/var/lib:zz')).toMatchObject({ type: 'rwo' })
    expect(parseVolume('/var/lib/my data')).toEqual({ name: 'my-data', path: '/var/lib/my data', type: 'rwo' })
    for (const bad of ['', 'a:b', '-v:/x', 'a:/b:ro:x', '/']) expect(parseVolume(bad)).toBeUndefined()
    expect(parseRestartPolicy('on-failure:5')).toBe('onFailure')
    expect(parseRestartPolicy('"no"')).toBe('no')
    expect(parseRestartPolicy('unless-stopped')).toBe('unlessStopped')
    expect(parseRestartPolicy('sometimes')).toBeUndefined()
  })

  it('renders the same text that it read', () => {
    const port = fc.integer({ min: 1, max: 65_535 })
    const row = fc.record({ internal: port, external: port, protocol: fc.constantFrom('udp' as const) })
    fc.assert(fc.property(row, (one) => void expect(parsePort(formatPort(one))).toEqual(one)))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        fc.nat(5_000),
        (a, b, length) => {
          const range = { internal: { from: a, to: a + length }, external: { from: b, to: b + length } }
          expect(parsePortRange(formatPortRange(range))).toEqual(range)
        },
      ),
    )
    expect(parseVolume(formatVolume({ name: 'a', path: '/b', type: 'mem' }))).toEqual({
      name: 'a',
      path: '/b',
      type: 'mem',
    })
  })

  it('does not throw for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const parse of [parsePort, parsePortRange, parseVolume, parseRestartPolicy]) parse(text)
      }),
    )
  })
})
