import { freePort } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDocker } from '../src/engines/docker/client/client.ts'
import { createContainerEngine } from '../src/engines/docker/client/container-engine.ts'
import { startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

type Config = Parameters<TestEnvironment['release']>[0]['instances'][number]['config']

let testEnvironment: TestEnvironment
let image: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
})
afterAll(() => testEnvironment.dispose())

/** Ignores SIGTERM, and ends with 7 on SIGUSR1. */
const stubborn = {
  commands: [{ key: '/bin/sh' }, { key: '-c' }],
  args: [{ key: "trap '' TERM; trap 'exit 7' USR1; while true; do sleep 0.1; done" }],
}

async function deploy(name: string, config: Omit<Config, 'name'>) {
  const release = testEnvironment.release({ instances: [{ image, config: { name, ...stubborn, ...config } }] })
  expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
  return (await testEnvironment.inspect(name)).Id
}

describe('a stop of a container', () => {
  test('uses the signal of its configuration', async () => {
    const id = await deploy('signal', { stopSignal: 'SIGUSR1', stopGracePeriodSeconds: 60 })
    const { docker, close } = await openDocker('unix:///var/run/docker.sock')
    await createContainerEngine(docker, { seesHost: true }).stop(id)
    expect((await testEnvironment.inspect('signal')).State).toMatchObject({ Status: 'exited', ExitCode: 7 })
    close()
  })

  test('kills a container that ignores its signal after its own grace period even beyond the usual limit of a call', async () => {
    const id = await deploy('grace', { stopGracePeriodSeconds: 2 })
    const { docker, close } = await openDocker('unix:///var/run/docker.sock', { readMs: 60_000, changeMs: 200 })
    await createContainerEngine(docker, { seesHost: true }).stop(id)
    expect((await testEnvironment.inspect('grace')).State).toMatchObject({ Status: 'exited', ExitCode: 137 })
    close()
  })
})

describe('a release that must stop several containers', () => {
  test('stops them in parallel so that the longest stop is the downtime of all', async () => {
    const ports = [await freePort(), await freePort()]
    const names = ['left', 'right']
    const order = () =>
      testEnvironment.release({
        recreate: true,
        instances: names.map((name, index) => ({
          image,
          config: {
            name,
            ...stubborn,
            stopGracePeriodSeconds: 3,
            ports: [{ internal: 8080, external: ports[index] ?? 0 }],
          },
        })),
      })
    expect(await testEnvironment.server.deployAndWait(order())).toMatchObject({ successful: true })
    const release = order()
    expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
    const key = release.key
    if (!key) throw new Error('the release has no key')
    const steps = testEnvironment.server.listEvents(key).flatMap(({ event }) => {
      if (event.case !== 'log') return []
      return event.value.silences ? ['stopping'] : event.value.stopped ? ['stopped'] : []
    })
    expect(steps).toEqual(['stopping', 'stopping', 'stopped', 'stopped'])
  })
})
