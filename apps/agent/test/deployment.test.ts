import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { label } from '../src/engines/labels.ts'
import {
  deploySuccessfully,
  listEvents as eventsOfRelease,
  listPhases as phasesOfRelease,
  startTestEnvironment,
  type TestEnvironment,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const listEvents = (release: Release) => eventsOfRelease(testEnvironment, release)
const listPhases = (release: Release, phase: Phase) => phasesOfRelease(testEnvironment, release, phase)
const succeed = (release: Release) => deploySuccessfully(testEnvironment, release)

describe('a first deployment', () => {
  test('pulls by digest, starts, labels and names the container and reports each step once and in order', async () => {
    const image = await testEnvironment.publish('web:1', { ...webImage('one'), ballastBytes: 200_000 })
    await testEnvironment.forget('web:1')
    const release = testEnvironment.release({
      instances: [{ image: image.reference, config: { name: 'web', environment: [{ key: 'COLOUR', value: 'blue' }] } }],
    })
    const outcome = await succeed(release)
    expect(outcome.containerNames).toEqual([testEnvironment.name('web')])
    const container = await testEnvironment.inspect('web')
    expect(container.State.Running).toBe(true)
    expect(container.Config.Image).toBe(image.reference)
    expect(container.Config.Env).toContain('COLOUR=blue')
    // A hostname is an alias too: a container that can run beside its successor must not answer to it.
    expect(container.Config.Hostname).not.toBe(testEnvironment.name('web'))
    expect(container.HostConfig.RestartPolicy?.Name).toBe('unless-stopped')
    expect(container.Config.Labels).toMatchObject({
      [label.team]: testEnvironment.owner.teamId,
      [label.project]: testEnvironment.owner.projectId,
      [label.node]: testEnvironment.owner.nodeId,
      [label.prefix]: testEnvironment.owner.prefix,
      [label.deployment]: release.key?.deploymentId,
      [label.release]: '1',
      [label.name]: 'web',
    })
    const events = listEvents(release)
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1))
    expect(events.find(({ event }) => event.case === 'resolved')?.event.value).toMatchObject({ digest: image.digest })
    const progress = events.flatMap(({ event }) => (event.case === 'progress' ? [event.value] : []))
    expect(progress.at(-1)).toMatchObject({ status: 'Pull complete' })
    expect(progress.at(-1)?.totalBytes).toBeGreaterThan(100_000n)
    expect(progress.at(-1)?.currentBytes).toBe(progress.at(-1)?.totalBytes)
    expect(listPhases(release, Phase.VERIFY)).toEqual([PhaseState.RUNNING, PhaseState.DONE])
    expect(listPhases(release, Phase.PULL)).toEqual([PhaseState.RUNNING, PhaseState.DONE])
  })

  test('lets a database and a web service find each other by both of their names', async () => {
    const image = await testEnvironment.publish('web:1', webImage('found'))
    await succeed(
      testEnvironment.release({
        instances: [
          { image: image.reference, config: { name: 'db' } },
          { image: image.reference, config: { name: 'web' } },
        ],
      }),
    )
    for (const [from, to] of [
      ['web', 'db'],
      ['db', 'web'],
      ['web', testEnvironment.name('db')],
    ] as const) {
      expect(await testEnvironment.exec(from, ['/bin/nslookup', to, '127.0.0.11'])).toMatch(
        /Address: \d+\.\d+\.\d+\.\d+\n/,
      )
    }
  })

  test('starts instances in the order of the version and waits only for one that names an expected state', async () => {
    const image = await testEnvironment.publish('web:1', webImage('one'))
    const release = testEnvironment.release({
      observationWindowMs: 2_000,
      instances: [
        { instanceId: 'a', image: image.reference, config: { name: 'a' } },
        {
          instanceId: 'b',
          image: image.reference,
          config: {
            name: 'b',
            commands: [{ key: '/bin/sh' }],
            args: [{ key: '-c' }, { key: 'sleep 0.5; exit 3' }],
            expectedState: { state: 'exited', exitCode: 3 },
          },
        },
        { instanceId: 'c', image: image.reference, config: { name: 'c' } },
      ],
    })
    await succeed(release)
    const order = listEvents(release).flatMap(({ event }) =>
      event.case === 'phase' &&
      ((event.value.phase === Phase.START && event.value.state !== PhaseState.FAILED) ||
        (event.value.phase === Phase.VERIFY && event.value.state === PhaseState.DONE))
        ? [
            `${event.value.phase === Phase.VERIFY ? 'verified' : event.value.state === PhaseState.DONE ? 'started' : 'starts'} ${event.value.instanceId}`,
          ]
        : [],
    )
    expect(order.filter((entry) => entry.startsWith('starts'))).toEqual(['starts a', 'starts b', 'starts c'])
    // Nothing delays b, not even a start that the engine is still processing; b delays c.
    expect(order.indexOf('starts b')).toBeLessThan(order.indexOf('started a'))
    expect(order.indexOf('verified b')).toBeLessThan(order.indexOf('starts c'))
    expect(order.indexOf('verified a')).toBeGreaterThan(order.indexOf('started b'))
    expect((await testEnvironment.inspect('b')).State).toMatchObject({ Running: false, ExitCode: 3 })
  })

  test('applies every setting that the container configuration of this agent has', async () => {
    const image = await testEnvironment.publish('web:1', webImage('one'))
    const [one, two] = [await freePort(), await freePort()]
    await succeed(
      testEnvironment.release({
        instances: [
          {
            image: image.reference,
            config: {
              name: 'web',
              ports: [
                { internal: 8080, external: one, bindAddress: '127.0.0.1' },
                { internal: 53, external: two, protocol: 'udp' },
                { internal: 9000 },
              ],
              volumes: [
                { name: 'data', path: '/data', type: 'rwo' },
                { name: 'fixed', path: '/fixed', type: 'ro' },
                { name: 'fast', path: '/fast', type: 'mem', size: '1Mi' },
              ],
              commands: [{ key: '/bin/sh' }, { key: '-c' }],
              args: [{ key: 'touch /data/x && exec /bin/sleep 1000' }],
              restartPolicy: 'onFailure',
              workingDirectory: '/tmp',
              user: 1000,
              tty: true,
              dockerLabels: [{ key: 'colour', value: 'blue' }],
              logConfig: { driver: 'json-file', options: [{ key: 'max-size', value: '1m' }] },
              capabilities: [{ key: 'NET_RAW', value: 'drop' }],
              expose: 'exposeWithTls',
              routing: {
                domain: `a.${testEnvironment.owner.prefix}.example, b.${testEnvironment.owner.prefix}.example`,
                path: '/app',
                stripPath: true,
                uploadLimit: '10MB',
                port: 8080,
              },
            },
          },
        ],
      }),
    )
    const { Config, HostConfig, Mounts } = await testEnvironment.inspect('web')
    expect(HostConfig.PortBindings).toEqual({
      '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: String(one) }],
      '53/udp': [{ HostIp: '', HostPort: String(two) }],
    })
    expect(Object.keys(Config.ExposedPorts ?? {})).toEqual(expect.arrayContaining(['9000/tcp', '8080/tcp', '53/udp']))
    const mount = (target: string) => Mounts.find(({ Destination }) => Destination === target)
    expect(mount('/data')).toMatchObject({
      Type: 'bind',
      RW: true,
      Source: `${testEnvironment.dataDir}/${testEnvironment.owner.prefix}/web/data`,
    })
    expect(mount('/fixed')).toMatchObject({ RW: false })
    expect(mount('/fast')).toMatchObject({ Type: 'tmpfs' })
    expect(Config).toMatchObject({
      Entrypoint: ['/bin/sh', '-c'],
      Cmd: ['touch /data/x && exec /bin/sleep 1000'],
      WorkingDir: '/tmp',
      User: '1000',
      Tty: true,
    })
    expect(Config.Labels).toMatchObject({ colour: 'blue', [label.team]: testEnvironment.owner.teamId })
    expect(HostConfig).toMatchObject({
      RestartPolicy: { Name: 'on-failure' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m' } },
      CapDrop: ['NET_RAW'],
    })
    expect(Config.Labels).toMatchObject({
      'traefik.enable': 'true',
      [`traefik.http.routers.${testEnvironment.name('web')}.rule`]: `(Host(\`a.${testEnvironment.owner.prefix}.example\`) || Host(\`b.${testEnvironment.owner.prefix}.example\`)) && PathPrefix(\`/app\`)`,
      [`traefik.http.routers.${testEnvironment.name('web')}.middlewares`]: `${testEnvironment.name('web')}-stripper,${testEnvironment.name('web')}-limit`,
      [`traefik.http.middlewares.${testEnvironment.name('web')}-limit.buffering.maxRequestBodyBytes`]: '10000000',
      [`traefik.http.services.${testEnvironment.name('web')}.loadbalancer.server.port`]: '8080',
      [`traefik.http.routers.${testEnvironment.name('web')}-secure.tls.certresolver`]: 'le',
    })
  })
})
