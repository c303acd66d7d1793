import { expect } from 'vitest'
import { teamNetworkName } from '../../src/engines/docker/containers/names.ts'
import { label } from '../../src/engines/labels.ts'
import { answers, bindings, type FieldRow, getLabels, type RowKit } from './row.ts'

/** Fields that only Docker applies. */
export function dockerRows({ ports, images, networks }: RowKit): FieldRow[] {
  const [gated = 0, gatedUdp = 0] = [ports.pop(), ports.pop()]
  return [
    ...(
      [
        ['no', 'no'],
        ['always', 'always'],
        ['onFailure', 'on-failure'],
        ['unlessStopped', 'unless-stopped'],
      ] as const
    ).map(
      ([restartPolicy, Name]): FieldRow => ({
        says: `restartPolicy ${restartPolicy}`,
        config: { restartPolicy },
        check: ({ info }) => expect(info.HostConfig.RestartPolicy).toMatchObject({ Name }),
      }),
    ),
    ...(
      [
        ['json-file', { 'max-size': '1m', 'max-file': '3' }],
        ['local', { 'max-size': '2m' }],
        ['none', {}],
      ] as const
    ).map(
      ([driver, options]): FieldRow => ({
        says: `logConfig ${driver}`,
        config: { logConfig: { driver, options: Object.entries(options).map(([key, value]) => ({ key, value })) } },
        check: ({ info }) => expect(info.HostConfig.LogConfig).toEqual({ Type: driver, Config: options }),
      }),
    ),
    {
      says: "logConfig nodeDefault, which is the engine's own",
      config: { logConfig: { driver: 'nodeDefault' } },
      check: async ({ info, testEnvironment }) =>
        expect(info.HostConfig.LogConfig?.Type).toBe((await testEnvironment.docker.info()).LoggingDriver),
    },
    {
      says: 'stopSignal',
      config: { stopSignal: 'SIGQUIT' },
      check: ({ info }) => expect(info.Config).toMatchObject({ StopSignal: 'SIGQUIT' }),
    },
    {
      says: 'networkMode none',
      config: { networkMode: 'none', ports: [{ internal: 8080 }] },
      alone: true,
      check: ({ info }) => expect(info.HostConfig.NetworkMode).toBe('none'),
    },
    {
      says: 'networkMode host',
      config: { networkMode: 'host', args: [{ key: '/bin/sleep' }, { key: '998' }] },
      alone: true,
      check: ({ info }) => expect(info.HostConfig.NetworkMode).toBe('host'),
    },
    {
      says: 'networkMode bridge, which is the network of the prefix',
      config: { networkMode: 'bridge' },
      check: ({ info, testEnvironment }) =>
        expect(info.HostConfig.NetworkMode).toMatch(new RegExp(`^crux-.*-${testEnvironment.owner.prefix}$`)),
    },
    {
      says: 'networks of the team, made where they are missing, and of the engine, with both names of the container',
      config: { networks: networks.map((key) => ({ key })) },
      check({ info, testEnvironment, short }) {
        const [team = '', engine = ''] = networks
        for (const name of [teamNetworkName(testEnvironment.owner, team), engine.replace('engine:', '')]) {
          const joined = info.NetworkSettings.Networks[name]
          expect(joined?.Aliases).toEqual(expect.arrayContaining([short, testEnvironment.name(short)]))
        }
      },
    },
    {
      says: 'dockerLabels beside ours',
      config: {
        dockerLabels: [
          { key: 'com.example.colour', value: 'blue' },
          { key: 'empty', value: '' },
        ],
      },
      check: (seen) =>
        expect(getLabels(seen)).toMatchObject({
          'com.example.colour': 'blue',
          empty: '',
          [label.team]: seen.testEnvironment.owner.teamId,
          [label.prefix]: seen.testEnvironment.owner.prefix,
          [label.name]: seen.short,
        }),
    },
    {
      says: 'expectedState exited with a code',
      config: {
        expectedState: { state: 'exited', exitCode: 3, timeout: 30 },
        commands: [{ key: '/bin/sh' }, { key: '-c' }],
        args: [{ key: 'exit 3' }],
      },
      alone: true,
      check({ info }) {
        expect(info.State).toMatchObject({ Status: 'exited', ExitCode: 3 })
        expect(info.HostConfig.RestartPolicy).toMatchObject({ Name: 'no' })
      },
    },
    {
      says: 'expectedState waiting',
      config: {
        expectedState: { state: 'waiting', timeout: 30 },
        restartPolicy: 'always',
        args: [{ key: '/bin/false' }],
      },
      alone: true,
      // The container alternates between running and waiting: a restart count above 0 shows the state.
      check: ({ info }) => expect(info.RestartCount).toBeGreaterThan(0),
    },
    {
      says: 'expectedState running with a time limit',
      config: { expectedState: { state: 'running', timeout: 33 } },
      check: ({ info }) => expect(info.State.Status).toBe('running'),
    },
    {
      says: 'portGate: the gate holds what is TCP, the engine publishes the rest',
      config: {
        portGate: { enabled: true, drainSeconds: 1 },
        ports: [
          { internal: 8080, external: gated },
          { internal: 53, external: gatedUdp, protocol: 'udp' },
        ],
      },
      async check(seen) {
        expect(bindings(seen)).toEqual({ '53/udp': [{ HostIp: '', HostPort: String(gatedUdp) }] })
        expect(getLabels(seen)['dev.crux.gate']).toContain(String(gated))
        await answers(gated)
      },
    },
    {
      says: 'capabilities, added and dropped',
      config: {
        capabilities: [
          { key: 'NET_ADMIN', value: 'add' },
          { key: 'cap_chown', value: 'drop' },
        ],
      },
      check: ({ info }) => expect(info.HostConfig).toMatchObject({ CapAdd: ['NET_ADMIN'], CapDrop: ['CHOWN'] }),
    },
    {
      says: 'ulimits, soft and hard, and without a limit',
      config: {
        ulimits: [
          { key: 'nofile', soft: 1_000, hard: 2_000 },
          { key: 'core', soft: -1, hard: -1 },
        ],
      },
      async check({ info, exec }) {
        expect(info.HostConfig.Ulimits).toEqual([
          { Name: 'nofile', Soft: 1_000, Hard: 2_000 },
          { Name: 'core', Soft: -1, Hard: -1 },
        ])
        expect((await exec('/bin/cat', '/proc/1/limits')).replaceAll(/ +/g, ' ')).toContain('Max open files 1000 2000')
      },
    },
    {
      says: 'shmSize',
      config: { shmSize: '8Mi' },
      async check({ info, exec }) {
        expect(info.HostConfig.ShmSize).toBe(8 * 1_024 ** 2)
        expect(await exec('/bin/df', '-k', '/dev/shm')).toMatch(/\s8192\s/)
      },
    },
    {
      says: 'extraHosts, beside the name of the node',
      config: {
        extraHosts: [
          { key: 'db.internal', value: '10.1.2.3' },
          { key: 'six.internal', value: 'fd00::1' },
          { key: 'node.internal', value: 'host-gateway' },
        ],
      },
      async check({ exec }) {
        const hosts = (await exec('/bin/cat', '/etc/hosts')).split('\n').map((line) => line.replaceAll(/\s+/g, ' '))
        expect(hosts).toEqual(expect.arrayContaining(['10.1.2.3 db.internal', 'fd00::1 six.internal']))
        const gateway = hosts.find((line) => line.endsWith(' host.docker.internal'))?.split(' ')[0]
        expect(hosts).toContain(`${gateway} node.internal`)
      },
    },
    {
      says: "extraHosts: a user's own host.docker.internal wins",
      config: { extraHosts: [{ key: 'host.docker.internal', value: '10.9.9.9' }] },
      check: ({ info }) => expect(info.HostConfig.ExtraHosts).toEqual(['host.docker.internal:10.9.9.9']),
    },
    {
      says: 'fields of Kubernetes, which are said and not dropped in silence',
      config: { deploymentStrategy: 'rolling', useLoadBalancer: true, metrics: { enabled: true, port: 8080 } },
      check: ({ reported }) =>
        expect(reported.filter((line) => line.endsWith('is for Kubernetes nodes and does nothing here'))).toHaveLength(
          3,
        ),
    },
    {
      says: 'ports of the label io.dyrector.cap.network.v1 of the image: bound to a free one, or exposed alone',
      config: {},
      image: images.labelled,
      check(seen) {
        expect(bindings(seen)).toEqual({ '8080/tcp': [{ HostIp: '', HostPort: expect.stringMatching(/^0?$/) }] })
        expect(Object.keys(seen.info.Config.ExposedPorts)).toEqual(expect.arrayContaining(['8080/tcp', '9000/tcp']))
        expect(getLabels(seen)[label.serviceCategory]).toBe('')
      },
    },
  ]
}
