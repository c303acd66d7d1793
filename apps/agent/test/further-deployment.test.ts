import { open } from 'node:fs/promises'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  deploySuccessfully,
  listPhases as phasesOfRelease,
  startTestEnvironment,
  type TestEnvironment,
  waitForAnswer,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const listPhases = (release: Release, phase: Phase) => phasesOfRelease(testEnvironment, release, phase)
const succeed = (release: Release) => deploySuccessfully(testEnvironment, release)

describe('a further deployment', () => {
  const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })

  test('keeps unchanged containers and replaces them only on request', async () => {
    const image = await testEnvironment.publish('web:1', webImage('one'))
    await succeed(testEnvironment.release({ instances: [web(image.reference)] }))
    const { Id } = await testEnvironment.inspect('web')
    const again = testEnvironment.release({ instances: [web(image.reference)] })
    await succeed(again)
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    expect(listPhases(again, Phase.START)).toEqual([PhaseState.SKIPPED])
    await succeed(testEnvironment.release({ recreate: true, instances: [web(image.reference)] }))
    expect((await testEnvironment.inspect('web')).Id).not.toBe(Id)
  })

  test('detects a tag that was pushed again and runs the new image under the readable name', async () => {
    const first = await testEnvironment.publish('web:latest', webImage('one'))
    await succeed(testEnvironment.release({ instances: [web(first.reference)] }))
    const second = await testEnvironment.publish('web:latest', webImage('two'))
    // The engine's own store still has the old image under the tag.
    const old = await testEnvironment.docker.getImage(`${testEnvironment.registry.host}/web@${first.digest}`).inspect()
    await testEnvironment.forget('web:latest')
    await testEnvironment.docker.getImage(old.Id).tag({ repo: `${testEnvironment.registry.host}/web`, tag: 'latest' })
    await succeed(testEnvironment.release({ instances: [web(second.reference)] }))
    expect(await testEnvironment.answer('web')).toBe('two')
    expect((await testEnvironment.inspect('web')).Config.Image).toBe(second.reference)
  })

  test('rolls back to an image by its digest without the registry where the engine still has it', async () => {
    const first = await testEnvironment.publish('web:latest', webImage('one'))
    await testEnvironment.forget('web:latest')
    await succeed(testEnvironment.release({ instances: [web(first.reference)] }))
    await succeed(
      testEnvironment.release({
        instances: [web((await testEnvironment.publish('web:latest', webImage('two'))).reference)],
      }),
    )
    await testEnvironment.registry.stop()
    try {
      await succeed(testEnvironment.release({ instances: [{ ...web(first.reference), digest: first.digest }] }))
    } finally {
      await testEnvironment.registry.start()
    }
    expect(await testEnvironment.answer('web')).toBe('one')
  })

  test('runs a pinned digest also after its tag was pushed again, and shows a name that is made of the digest', async () => {
    const first = await testEnvironment.publish('web:1', webImage('one'))
    await testEnvironment.publish('web:1', webImage('two'))
    await testEnvironment.forget('web:1')
    const name = first.reference.slice(0, -2)
    const pinned = `${name}:${first.digest.replace(':', '-').slice(0, 19)}`
    // No tag of that name exists in the registry.
    await succeed(testEnvironment.release({ instances: [{ ...web(pinned), digest: first.digest }] }))
    expect(await testEnvironment.answer('web')).toBe('one')
    expect((await testEnvironment.inspect('web')).Config.Image).toBe(pinned)
    await succeed(testEnvironment.release({ instances: [{ ...web(first.reference), digest: first.digest }] }))
    expect(await testEnvironment.answer('web')).toBe('one')
  })

  test('causes downtime of a service with a published port only during the handover', async () => {
    const port = await freePort()
    const ports = { ports: [{ internal: 8080, external: port }] }
    const one = await testEnvironment.publish('web:1', webImage('one'))
    const two = await testEnvironment.publish('web:2', webImage('two'))
    await succeed(testEnvironment.release({ instances: [web(one.reference, ports)] }))
    const release = testEnvironment.release({ instances: [web(two.reference, ports)] })
    await succeed(release)
    expect(await waitForAnswer(`http://127.0.0.1:${port}/`)).toBe('two')
    expect(testEnvironment.server.toLines(release).join('\n')).toContain(`both publish port ${port}`)
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
    expect(await testEnvironment.exec('web', ['/bin/nslookup', 'web', '127.0.0.11'])).toMatch(/Address: \d+\./)
  })

  test('exchanges the ports of two services', async () => {
    const [left, right] = [await freePort(), await freePort()]
    const image = await testEnvironment.publish('web:1', webImage('one'))
    const instances = (a: number, b: number) => [
      { instanceId: 'a', image: image.reference, config: { name: 'a', ports: [{ internal: 8080, external: a }] } },
      { instanceId: 'b', image: image.reference, config: { name: 'b', ports: [{ internal: 8080, external: b }] } },
    ]
    await succeed(testEnvironment.release({ instances: instances(left, right) }))
    await succeed(testEnvironment.release({ instances: instances(right, left) }))
    expect((await testEnvironment.inspect('a')).HostConfig.PortBindings).toMatchObject({
      '8080/tcp': [{ HostPort: String(right) }],
    })
    expect((await testEnvironment.inspect('b')).State.Running).toBe(true)
  })

  test('removes containers that the version no longer has unless only a part of it was started', async () => {
    const image = await testEnvironment.publish('web:1', webImage('one'))
    const both = testEnvironment.release({
      instances: [web(image.reference), { instanceId: 'old', image: image.reference, config: { name: 'old' } }],
    })
    await succeed(both)
    const previous = [
      { containerName: testEnvironment.name('web'), instanceId: 'web', release: both.key },
      { containerName: testEnvironment.name('old'), instanceId: 'old', release: both.key },
    ]
    await succeed(testEnvironment.release({ partial: true, previous, instances: [web(image.reference)] }))
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('old'), testEnvironment.name('web')])
    await succeed(testEnvironment.release({ previous, instances: [web(image.reference)] }))
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  })

  test('takes over the containers of another version of the project including a renamed one', async () => {
    const image = await testEnvironment.publish('web:1', webImage('one'))
    const port = await freePort()
    const config = { ports: [{ internal: 8080, external: port }] }
    const first = testEnvironment.release({
      instances: [{ instanceId: 'i-1', image: image.reference, config: { name: 'web', ...config } }],
    })
    await succeed(first)
    const next = await testEnvironment.publish('web:2', webImage('two'))
    const second = testEnvironment.release({
      previous: [{ containerName: testEnvironment.name('web'), instanceId: 'i-1', release: first.key }],
      instances: [{ instanceId: 'i-2', image: next.reference, config: { name: 'web', ...config } }],
    })
    await succeed(second)
    expect(await testEnvironment.answer('web')).toBe('two')
    await succeed(
      testEnvironment.release({
        previous: [{ containerName: testEnvironment.name('web'), instanceId: 'i-2', release: second.key }],
        instances: [{ instanceId: 'i-2', image: next.reference, config: { name: 'site', ...config } }],
      }),
    )
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('site')])
  })

  test('never lets the old and the new container use the same volume at once', async () => {
    const image = await testEnvironment.publish('writer:1', {
      cmd: [
        '/bin/sh',
        '-c',
        'test ! -e /data/lock || exit 9; touch /data/lock; trap "rm /data/lock; exit 0" TERM; while true; do sleep 0.1; done',
      ],
    })
    const config = (value: string) => ({
      name: 'writer',
      environment: [{ key: 'TRY', value }],
      volumes: [{ name: 'data', path: '/data' }],
    })
    for (const value of ['1', '2', '3']) {
      await succeed(
        testEnvironment.release({
          instances: [{ instanceId: 'writer', image: image.reference, config: config(value) }],
        }),
      )
    }
    expect((await testEnvironment.inspect('writer')).Config.Env).toContain('TRY=3')
  })

  test('stops nothing before the plan to restart it is stored durably', async () => {
    const image = (await testEnvironment.publish('web:1', webImage('one'))).reference
    const config = { name: 'web', ports: [{ internal: 8080, external: await freePort() }] }
    const release = () => testEnvironment.release({ recreate: true, instances: [{ instanceId: 'web', image, config }] })
    await succeed(release())
    const handle = await open('/dev/null')
    const files = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> }
    await handle.close()
    const { Id } = await testEnvironment.inspect('web')
    const running: boolean[] = []
    const { datasync } = files
    const watched = vi.spyOn(files, 'datasync').mockImplementation(async function (this: typeof files) {
      running.push((await testEnvironment.docker.getContainer(Id).inspect()).State.Running)
      return datasync.call(this)
    })
    try {
      await succeed(release())
    } finally {
      watched.mockRestore()
    }
    expect(running[0]).toBe(true)
  })

  test('stops the old container for an image whose VOLUME nothing mounts, reports that, and keeps the old data', async () => {
    const image = await testEnvironment.publish('vol:1', { ...webImage('one'), volumes: ['/var/data'] })
    await succeed(
      testEnvironment.release({ instances: [{ instanceId: 'vol', image: image.reference, config: { name: 'vol' } }] }),
    )
    const volume =
      (await testEnvironment.inspect('vol')).Mounts.find(({ Destination }) => Destination === '/var/data')?.Name ?? ''
    const release = testEnvironment.release({
      recreate: true,
      instances: [{ instanceId: 'vol', image: image.reference, config: { name: 'vol' } }],
    })
    await succeed(release)
    expect(testEnvironment.server.toLines(release).join('\n')).toContain('/var/data')
    expect((await testEnvironment.docker.getVolume(volume).inspect()).Name).toBe(volume)
    await testEnvironment.docker.getVolume(volume).remove()
  })
})
