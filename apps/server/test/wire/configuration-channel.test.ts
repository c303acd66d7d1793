import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from '../kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from '../kit/test-environment.ts'
import { createRecorder, expectRecorded } from './recorder.ts'

let server: TestServer
let ada: Someone
let testEnvironment: TestEnvironment

beforeAll(async () => {
  server = await startTestServer()
  ada = server.signUp('Ada Byron')
  testEnvironment = await makeTestEnvironment(server, ada)
})
afterAll(() => server.stop())

const recorderFor = () =>
  createRecorder(server, { team: testEnvironment.teamSlug, configId: testEnvironment.configId, userId: ada.id })
const path = () => `/${testEnvironment.teamSlug}/container-configurations/${testEnvironment.configId}`
it('an incomplete row is acknowledged and not stored, and a row that becomes incomplete stays unchanged', async () => {
  const recorder = recorderFor()
  const client = await recorder.listen(ada, path())
  const [data, fresh] = [randomUUID(), randomUUID()]
  recorder.name(data, 'data row')
  recorder.name(fresh, 'new row')
  const patch = async (config: object) => {
    client.send('patch-config', { config })
    await client.until('patch-received')
  }
  await patch({ volumes: [{ id: data, name: 'data', path: '/data', type: 'rwo' }] })
  await client.until('config-updated')
  const stored = { id: data, name: 'data', path: '/data', type: 'rwo' }
  await patch({ volumes: [stored, { id: fresh, name: null, path: null, type: 'rwo' }] })
  await patch({
    volumes: [
      { ...stored, name: '' },
      { id: fresh, name: 'c', path: null, type: 'rwo' },
    ],
  })
  await patch({ ports: [{ id: randomUUID(), internal: null, external: null }] })
  await patch({ initContainers: [{ id: randomUUID(), name: null, image: null, volumes: [], command: [] }] })
  await patch({ volumes: [stored, { id: fresh, name: 'cache', path: 'cache', type: 'rwo' }] })
  await client.until('config-updated')
  expectRecorded(client.log, 'rows-being-typed')
  client.close()
})

it('a cleared field is null in the messages to all clients', async () => {
  const recorder = recorderFor()
  const client = await recorder.listen(ada, path())
  client.send('patch-config', { config: { name: 'web' } })
  await client.until('patch-received')
  await client.until('config-updated')
  client.send('patch-config', { config: { name: null } })
  await client.until('patch-received')
  await client.until('config-updated')
  client.send('patch-config', { resetSection: 'volumes' })
  await client.until('patch-received')
  await client.until('config-updated')
  const updates = client.log.flatMap(({ received }) => {
    const message = received as { type: string; data: Record<string, unknown> } | undefined
    return message?.type === 'config-updated' ? [message.data] : []
  })
  expect(updates.map(({ name }) => name)).toEqual(['web', null, null])
  expect(updates.at(-1)).toMatchObject({ volumes: null, routing: null, metrics: null })
  client.close()
})

it('a complete but invalid value, and an unknown setting, are refused with a sentence', async () => {
  const recorder = recorderFor()
  const client = await recorder.listen(ada, path())
  for (const config of [
    { ports: [{ internal: 70_000 }] },
    { privileged: true },
    { volumes: [{ name: 'data', path: '/data', readOnly: true }] },
    { user: 'root' },
    { restartPolicy: 'sometimes' },
  ]) {
    client.send('patch-config', { config })
    await client.until('error')
  }
  const rest = `/api${path()}`
  const log = [
    ...client.log,
    await recorder.request(ada, 'PATCH', rest, { config: { bogus: 1 } }),
    await recorder.request(ada, 'PATCH', rest, {
      config: { ports: ['18080:80/udp'], restartPolicy: 'unless-stopped' },
    }),
    await recorder.request(ada, 'PATCH', rest, { config: { ports: ['many'] } }),
  ]
  expectRecorded(log, 'refused-configurations')
  client.close()
  const stored = await server.client(ada).call('container-configurations.get', {
    params: { teamSlug: testEnvironment.teamSlug, configId: testEnvironment.configId },
  })
  expect(stored.ports).toMatchObject([{ internal: 80, external: 18_080, protocol: 'udp' }])
})
