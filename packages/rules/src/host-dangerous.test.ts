import type { ContainerConfigFields } from '@crux/contract'
import { logDrivers, ulimitNames } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { addedHostDangers, hostDangers } from './host-dangerous.ts'

const properties = (config: ContainerConfigFields) => hostDangers(config).map(({ property }) => property)
const added = (before: ContainerConfigFields, after: ContainerConfigFields) =>
  addedHostDangers(before, after).map(({ property }) => property)
const options = (driver: 'json-file' | 'local' | 'nodeDefault', ...rows: [key: string, value: string][]) => ({
  logConfig: { driver, options: rows.map(([key, value]) => ({ key, value })) },
})

describe('hostDangers', () => {
  it('finds the host network, directories and sockets of the node, and privileges over it', () => {
    const dangers = hostDangers({
      networkMode: 'host',
      volumes: [
        { name: 'data', path: '/data' },
        { name: '/etc', path: '/etc' },
        { name: '/var/run/docker.sock', path: '/s' },
        { name: '/var//run/', path: '/r' },
      ],
      capabilities: [
        { key: 'SYS_ADMIN', value: 'add' },
        { key: 'CAP_CHOWN', value: 'add' },
        { key: 'SYS_PTRACE', value: 'drop' },
      ],
    })
    expect(dangers.map((danger) => danger.property)).toEqual([
      'networkMode',
      'volumes[1].name',
      'volumes[2].name',
      'volumes[3].name',
      'capabilities[0].key',
    ])
    expect(dangers.filter((danger) => danger.reason.includes('root on the node'))).toHaveLength(2)
  })

  it('finds init steps that write into a path of the node which the container itself mounts read-only', () => {
    const name = '/srv/data'
    expect(
      properties({
        volumes: [{ name, path: '/data', type: 'ro' }],
        configContainer: { image: 'app', volume: name, path: '/', keepFiles: true },
        storage: { storageId: '0199f0e0-0000-7000-8000-000000000001', bucket: 'b', path: name },
        initContainers: [
          { name: 'a', image: 'app', useParentConfig: false, volumes: [{ name: 'other', path: '/o' }] },
          { name: 'b', image: 'app', useParentConfig: false, volumes: [{ name, path: '/d' }] },
        ],
      }),
    ).toEqual(['volumes[0].name', 'configContainer.volume', 'storage.path', 'initContainers[1].volumes[0].name'])
  })

  it('treats every log driver as dangerous that writes more than files of its own', () => {
    const safe = logDrivers.filter((driver) => hostDangers({ logConfig: { driver } }).length === 0)
    expect(safe).toEqual(['nodeDefault', 'none', 'local', 'json-file'])
  })

  it.each(['json-file', 'local', 'nodeDefault'] as const)(
    'treats every log option as dangerous that is not known to be harmless, for any driver: %s',
    (driver) => {
      const named = [
        'syslog-address',
        'syslog-tls-ca-cert',
        'gelf-address',
        'fluentd-address',
        'splunk-url',
        'splunk-capath',
        'awslogs-endpoint',
        'awslogs-credentials-endpoint',
        'loki-url',
      ]
      expect(properties(options(driver, ...named.map((key): [string, string] => [key, '/etc/shadow'])))).toEqual(
        named.map((_, index) => `logConfig.options[${index}].key`),
      )
      expect(
        properties(
          options(driver, ['max-size', '10m'], ['max-file', '3'], ['compress', 'true'], ['labels', 'a'], ['env', 'B']),
        ),
      ).toEqual([])
    },
  )

  it.each<[key: string, harmless: string, dangerous: string]>([
    ['tag', 'shop {{.Name}}/{{ .ID }}', '{{pad .ID 999999999 0}}'],
    ['tag', '', '{{ range .ContainerEnv }}x{{ end }}'],
    ['max-file', '100', '101'],
    ['max-buffer-size', '16m', '17m'],
    ['max-buffer-size', '4 MiB', '1e9g'],
    ['cache-max-file', '5', '99999'],
  ])('treats the log option %s with %j as harmless and with %j as dangerous', (key, harmless, dangerous) => {
    expect(properties(options('local', [key, harmless]))).toEqual([])
    expect(properties(options('local', [key, dangerous]))).toEqual(['logConfig.options[0].value'])
  })

  it('treats limits as dangerous that take resources of the node when raised', () => {
    const dangerous = ulimitNames.filter((key) => hostDangers({ ulimits: [{ key, soft: 1, hard: 2 }] }).length > 0)
    expect(dangerous.toSorted()).toEqual(['memlock', 'nice', 'rtprio', 'sigpending'])
  })

  it('treats more than 1Gi of files in memory as dangerous, in total, and only without a memory limit', () => {
    const limited = { resourceConfig: { limits: { memory: '2Gi' } } }
    const big: ContainerConfigFields = {
      volumes: [
        { name: 'a', path: '/a', type: 'mem', size: '512Mi' },
        { name: 'b', path: '/b', type: 'tmp', size: '400Mi' },
        { name: 'disk', path: '/c', type: 'rwo', size: '5Gi' },
      ],
      shmSize: '200Mi',
    }
    expect(properties(big)).toEqual(['volumes[0].size', 'volumes[1].size', 'shmSize'])
    expect(properties({ ...big, shmSize: '100Mi' })).toEqual([])
    expect(properties({ ...big, ...limited })).toEqual([])
    expect(properties({ ...big, resourceConfig: { limits: { cpu: '1' } } })).toHaveLength(3)
    const unsized = Array.from({ length: 17 }, (_, index) => ({
      name: `v${index}`,
      path: `/v${index}`,
      type: 'mem' as const,
    }))
    expect(properties({ volumes: unsized.slice(1) })).toEqual([])
    expect(properties({ volumes: unsized })).toHaveLength(17)
  })
})

describe('addedHostDangers', () => {
  const volume = { id: '1', name: '/srv/data', path: '/data', type: 'ro' as const }
  const approved: ContainerConfigFields = { volumes: [volume] }

  it('reports only the dangers that a change adds', () => {
    expect(added(approved, { volumes: [{ name: 'x', path: '/x' }, volume] })).toEqual([])
    expect(added(approved, { ...approved, networkMode: 'host' })).toEqual(['networkMode'])
    expect(added(approved, { ...approved, args: [{ key: 'rm' }], environment: [{ key: 'A', value: 'b' }] })).toEqual([])
  })

  it('allows a change to remove a danger, and to change row ids and the order of keys and rows', () => {
    expect(added(approved, { volumes: [] })).toEqual([])
    expect(added(approved, {})).toEqual([])
    const { id: _, ...row } = volume
    expect(added(approved, { volumes: [{ type: row.type, path: row.path, name: row.name, id: '2' }] })).toEqual([])
    const two = { ...volume, name: '/srv/two', path: '/two' }
    expect(added({ volumes: [volume, two] }, { volumes: [two, volume] })).toEqual([])
  })

  it.each<[what: string, before: ContainerConfigFields, after: ContainerConfigFields]>([
    ['the type of a volume', approved, { volumes: [{ ...volume, type: 'rwo' }] }],
    ['the type of a volume, left to its default', approved, { volumes: [{ name: volume.name, path: volume.path }] }],
    ['the path of a volume', approved, { volumes: [{ ...volume, path: '/etc' }] }],
    ['the name of a volume', approved, { volumes: [{ ...volume, name: '/srv' }] }],
    ['the size of a volume', approved, { volumes: [{ ...volume, size: '1Gi' }] }],
    ['the class of a volume', approved, { volumes: [{ ...volume, class: 'fast' }] }],
    [
      'the hard limit',
      { ulimits: [{ key: 'memlock', soft: 1, hard: 1 }] },
      { ulimits: [{ key: 'memlock', soft: 1, hard: 2 }] },
    ],
    [
      'the soft limit',
      { ulimits: [{ key: 'nice', soft: 1, hard: 9 }] },
      { ulimits: [{ key: 'nice', soft: 2, hard: 9 }] },
    ],
    [
      'an option of a dangerous log driver',
      { logConfig: { driver: 'syslog', options: [{ key: 'tag', value: 'a' }] } },
      { logConfig: { driver: 'syslog', options: [{ key: 'tag', value: 'b' }] } },
    ],
    ['the value of a dangerous log option', options('local', ['tag', '{{x}}']), options('local', ['tag', '{{y}}'])],
    [
      'the image of an init container that writes into a path of the node',
      {
        initContainers: [{ name: 'a', image: 'a', useParentConfig: false, volumes: [{ name: '/srv/x', path: '/x' }] }],
      },
      {
        initContainers: [{ name: 'a', image: 'b', useParentConfig: false, volumes: [{ name: '/srv/x', path: '/x' }] }],
      },
    ],
    [
      'the bucket of an import into a path of the node',
      { storage: { storageId: '0199f0e0-0000-7000-8000-000000000001', bucket: 'a', path: '/srv/x' } },
      { storage: { storageId: '0199f0e0-0000-7000-8000-000000000001', bucket: 'b', path: '/srv/x' } },
    ],
    [
      'the limit of memory that made large files in memory harmless',
      { shmSize: '2Gi', resourceConfig: { limits: { memory: '4Gi' } } },
      { shmSize: '2Gi' },
    ],
  ])('finds a new danger where a change is of %s', (_, before, after) => {
    expect(added(before, before)).toEqual([])
    expect(added(before, after).length).toBeGreaterThan(0)
  })
})
