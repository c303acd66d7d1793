import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  deploySuccessfully,
  expectUnchanged,
  startTestEnvironment,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
let good: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  good = (await testEnvironment.publish('web:good', webImage('old'))).reference
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })

/** The service before the attempt that fails. */
async function deployFirst(more: object = {}): Promise<string> {
  await deploySuccessfully(testEnvironment, testEnvironment.release({ instances: [web(good, more)] }))
  return (await testEnvironment.inspect('web')).Id
}

describe('a cancelled deployment', () => {
  test('ends at once while a registry keeps the engine waiting', async () => {
    const id = await deployFirst()
    const asked = Promise.withResolvers<void>()
    // It answers the version check, and nothing more.
    const registry = createHttpServer((request, response) => {
      if (request.url === '/v2/') response.end('{}')
      else asked.resolve()
    })
    registry.listen(0, '127.0.0.1')
    await once(registry, 'listening')
    try {
      const image = `127.0.0.1:${(registry.address() as AddressInfo).port}/web:1`
      const release = testEnvironment.release({ instances: [web(image)] })
      testEnvironment.server.deploy(release)
      await asked.promise
      testEnvironment.server.send({ case: 'cancelDeployment', value: release.key ? { release: release.key } : {} })
      expect(await testEnvironment.server.getOutcome(release, 5_000)).toMatchObject({
        cancelled: true,
        previousRestored: true,
      })
    } finally {
      registry.closeAllConnections()
      registry.close()
    }
    await expectUnchanged(testEnvironment, id)
  })

  test('restores everything during verification and while it waits for its turn', async () => {
    const port = await freePort()
    const ports = [{ internal: 8080, external: port }]
    const id = await deployFirst({ ports })
    const running = testEnvironment.release({
      observationWindowMs: 30_000,
      instances: [web(good, { ports, environment: [{ key: 'A', value: 'B' }] })],
    })
    const queued = testEnvironment.release({
      instances: [web(good, { ports, environment: [{ key: 'A', value: 'C' }] })],
    })
    testEnvironment.server.deploy(running)
    testEnvironment.server.deploy(queued)
    await waitUntil('the new one runs', async () =>
      (await testEnvironment.docker.listContainers({ filters: { name: [testEnvironment.name('web')] } })).some(
        ({ Names }) => Names[0]?.includes('.next-'),
      ),
    )
    testEnvironment.server.send({ case: 'cancelDeployment', value: { release: queued.key } })
    testEnvironment.server.send({ case: 'cancelDeployment', value: { release: running.key } })
    expect(await testEnvironment.server.getOutcome(running)).toMatchObject({
      successful: false,
      cancelled: true,
      previousRestored: true,
    })
    expect(await testEnvironment.server.getOutcome(queued)).toMatchObject({
      successful: false,
      cancelled: true,
      previousRestored: true,
    })
    await expectUnchanged(testEnvironment, id)
  })
})
