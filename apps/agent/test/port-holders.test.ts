import { createServer } from 'node:net'
import { freePort } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
let image: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
})
afterAll(() => testEnvironment.dispose())

type Owner = TestEnvironment['owner']
async function listHolders(owner: Owner, ports: readonly number[]): Promise<Record<number, string>> {
  const result = await testEnvironment.server.ask({
    case: 'findPortHolders',
    value: { owner, ports: ports.map((port) => ({ port, protocol: 'tcp', address: '' })) },
  })
  if (result.case !== 'portHolders') throw new Error(`answered ${result.case}`)
  return Object.fromEntries(result.value.holders.map(({ port, containerName }) => [port?.port, containerName]))
}

test('port holders are reported with names of the own team only and not where the prefix itself holds the port', async () => {
  const [published, gated, listening, free] = await Promise.all(Array.from({ length: 4 }, () => freePort()))
  if (!published || !gated || !listening || !free) throw new Error('no free ports')
  const release = testEnvironment.release({
    instances: [
      { image, config: { name: 'web', ports: [{ internal: 8080, external: published }] } },
      {
        image,
        config: { name: 'gated', portGate: { enabled: true }, ports: [{ internal: 8080, external: gated }] },
      },
    ],
  })
  expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
  const socket = createServer().listen(listening, '0.0.0.0')
  try {
    const asked = [published, gated, listening, free]
    const neighbour = { ...testEnvironment.owner, prefix: `${testEnvironment.owner.prefix}n` }
    expect(await listHolders(neighbour, asked)).toEqual({
      [published]: testEnvironment.name('web'),
      [gated]: testEnvironment.name('gated'),
      [listening]: '',
    })
    expect(await listHolders({ ...neighbour, teamId: 'another' }, asked)).toEqual({
      [published]: '',
      [gated]: '',
      [listening]: '',
    })
    expect(await listHolders(testEnvironment.owner, asked)).toEqual({ [listening]: '' })
    await testEnvironment.docker.getContainer(testEnvironment.name('web')).stop({ t: 0 })
    expect(await listHolders(neighbour, [published])).toEqual({})
  } finally {
    socket.close()
  }
})
