import { arbitraryMutation } from '@crux/rules/arbitrary-mutation'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

/** Every run sends the same; CRUX_TEST_SEED sets another seed. A failure names the configuration, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
/** The number for each way: requests, and live messages. */
const mutations = process.env.CRUX_TEST_FULL ? 5_000 : 250
const layers = process.env.CRUX_TEST_FULL ? 1_000 : 50

type Refusal = { status?: number; property?: string; error?: string; description?: string; details?: unknown[] }
type Frame = { type: string; data: Refusal | null }

let crux: TestServer
let owner: Someone
let testEnvironment: TestEnvironment
let configIds: string[]
beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Owner')
  testEnvironment = await makeTestEnvironment(crux, owner)
  const { call } = crux.client(owner)
  const params = { teamSlug: testEnvironment.teamSlug }
  const deployment = await call('deployments.get', {
    params: { ...params, deploymentId: testEnvironment.deploymentId },
  })
  await call('deployments.update', {
    params: { ...params, deploymentId: testEnvironment.deploymentId },
    body: { prefix: deployment.prefix, protected: false, configBundles: [testEnvironment.configBundleId] },
  })
  const bundle = await call('config-bundles.get', {
    params: { ...params, configBundleId: testEnvironment.configBundleId },
  })
  configIds = [
    testEnvironment.configId,
    bundle.configId,
    deployment.config.id,
    deployment.instances[0]?.config.id ?? '',
  ]
})
afterAll(() => crux.stop())

const sent = () => fc.record({ which: fc.nat({ max: 3 }), mutation: arbitraryMutation({ seed, layers }) })
const options = { seed, numRuns: mutations, endOnFailure: false }
const timeoutMs = process.env.CRUX_TEST_FULL ? 30 * 60_000 : 120_000

/** Accepted, or refused with the place of the mistake, in a sentence of ours. */
function expectPath(refusal: Refusal) {
  expect([refusal.status, refusal.error]).toEqual([
    400,
    expect.stringMatching(/^(invalidArgument|keysAreUnique|missingParameter)$/),
  ])
  expect(refusal.property).toMatch(/^(config($|[.[])|data\.config|body)/)
  expect(refusal.description).toEqual(expect.any(String))
}

it(
  'a request with any configuration is accepted, or refused with a path',
  async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(sent(), async ({ which, mutation }) => {
        const path = `/api/${testEnvironment.teamSlug}/container-configurations/${configIds[which]}`
        const answer = await crux.request(path, {
          as: owner,
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ config: mutation.config }),
        })
        if (answer.status === 204) accepted++
        else expectPath({ ...((await answer.json()) as Refusal), status: answer.status })
      }),
      options,
    )
    expect(accepted).toBeGreaterThan(mutations / 20)
  },
  timeoutMs,
)

it(
  'a live message with any configuration is accepted, or refused with a path',
  async () => {
    const socket = new WebSocket(`${crux.url.replace('http', 'ws')}/api`, {
      headers: { authorization: `Bearer ${owner.token}` },
    })
    const waiting: ((frame: Frame) => void)[] = []
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Frame
      if (/(^|\/)(patch-received|error|subbed)$/.test(frame.type)) waiting.shift()?.(frame)
    })
    const send = (type: string, data: unknown) =>
      new Promise<Frame>((resolve, reject) => {
        waiting.push(resolve)
        socket.once('close', () => reject(new Error('the socket was closed')))
        socket.send(JSON.stringify({ type, data }))
      })
    await new Promise((resolve) => socket.on('open', resolve))
    socket.setMaxListeners(0)
    const paths = configIds.map((id) => `/${testEnvironment.teamSlug}/container-configurations/${id}`)
    for (const path of paths) await send('subscribe', { path })
    await fc.assert(
      fc.asyncProperty(sent(), async ({ which, mutation }) => {
        const frame = await send(`${paths[which]}/patch-config`, { config: mutation.config })
        if (frame.type === 'error') expectPath(frame.data ?? {})
      }),
      options,
    )
    socket.close()
  },
  timeoutMs,
)

it('an accepted configuration can be read, shown and compared afterwards', async () => {
  const { call } = crux.client(owner)
  const params = { teamSlug: testEnvironment.teamSlug }
  for (const configId of configIds) {
    await call('container-configurations.get', { params: { ...params, configId } })
    await call('container-configurations.relations', { params: { ...params, configId } })
    const page = { skip: 0, take: 1_000 }
    const { items } = await call('container-configurations.history', { params: { ...params, configId }, query: page })
    for (const { revision } of items.slice(0, 20))
      await call('container-configurations.get-revision', { params: { ...params, configId, revision } })
  }
  const inDeployment = { params: { ...params, deploymentId: testEnvironment.deploymentId } }
  expect(await call('deployments.final-configuration', inDeployment)).toHaveLength(1)
  await call('deployments.preview', inDeployment)
})
