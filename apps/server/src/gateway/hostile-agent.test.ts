import type { MessageInitShape } from '@bufbuild/protobuf'
import type { FailureCode, RespondRequestSchema } from '@crux/agent-protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'

type Result = NonNullable<MessageInitShape<typeof RespondRequestSchema>['result']>
type Asked = 'listContainers' | 'operateContainer' | 'deleteContainers' | 'inspectContainer' | 'readLog' | 'listImages'

/** An agent that uses the protocol and sends invalid values. */
let server: TestServer
let testEnvironment: DeployTestEnvironment
let agent: ScriptedAgent
let base: string
let asked: Map<Asked, number>
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())
beforeEach(async () => {
  const node = await testEnvironment.node()
  agent = await testEnvironment.agent(node)
  asked = new Map()
  base = `/api/${testEnvironment.team.slug}/nodes/${node.id}`
})
afterEach(() => agent.cut())

const requests: readonly { command: Asked; path: string; method?: string }[] = [
  { command: 'listContainers', path: '/_/containers' },
  { command: 'listContainers', path: '/shop/containers' },
  { command: 'operateContainer', path: '/_/containers/web/stop', method: 'POST' },
  { command: 'deleteContainers', path: '/_/containers/web', method: 'DELETE' },
  { command: 'inspectContainer', path: '/_/containers/web/inspect' },
  { command: 'readLog', path: '/_/containers/web/log' },
  { command: 'listImages', path: '/images' },
]

/** The client's response to a request when the agent sends this answer. */
async function answered({ command, path, method = 'GET' }: (typeof requests)[number], result: Result) {
  const nth = (asked.get(command) ?? 0) + 1
  asked.set(command, nth)
  const answer = server.request(`${base}${path}`, { method, as: testEnvironment.owner })
  const { commandId } = await agent.command(command, nth)
  await agent.respond(commandId, result)
  const response = await answer
  const text = await response.text()
  return {
    status: response.status,
    body: (text === '' ? {} : JSON.parse(text)) as { error?: string; description?: string },
  }
}

const absurd = { seconds: 9_000_000_000_000_000n, nanos: 2_147_483_647 }
const before = { seconds: -9_000_000_000_000_000n, nanos: -5 }
const long = 'x'.repeat(2_000_000)
const id = `sha256:${'a'.repeat(64)}`
const container = (more: object = {}) => ({ ref: { prefix: '', name: 'web' }, owned: true, ...more })
const containers = (...some: object[]): Result => ({ case: 'containers', value: { containers: some } })
const results: readonly Result[] = [
  containers(container({ createdAt: absurd, startedAt: before, state: 99, exitCode: -2_147_483_648 })),
  containers(container({ createdAt: before, restartCount: 4_294_967_295, reason: long, labels: { [long]: long } })),
  containers(container({ ref: { prefix: long, name: long } }), container({ ref: undefined })),
  containers(container({ ref: { prefix: '', name: '' } })),
  containers(container({ ports: [{ internal: 4_294_967_295, external: 4_294_967_295, protocol: '\0' }] })),
  { case: 'log', value: { lines: [{ at: absurd, text: 'late' }, { at: before, text: '\0' }, { text: long }] } },
  { case: 'inspection', value: { json: '' } },
  { case: 'inspection', value: { json: 'no json' } },
  { case: 'inspection', value: { json: '[]' } },
  { case: 'inspection', value: { json: `{"Config":${'['.repeat(50_000)}${']'.repeat(50_000)}}` } },
  { case: 'inspection', value: { json: JSON.stringify({ Config: { Labels: 7, Env: { a: 1 } } }) } },
  { case: 'inspection', value: { json: `"${long}${long}"` } },
  { case: 'images', value: { images: [{ id, sizeBytes: 18_446_744_073_709_551_615n, createdAt: absurd }] } },
  { case: 'images', value: { images: [{ id: long, references: [long], createdAt: before }] } },
  { case: 'images', value: { images: [{ id, references: ['', '@', ':', '@@::', '\0'], containers: [long] }] } },
  { case: 'removedImages', value: { imageIds: [long], freedBytes: 18_446_744_073_709_551_615n } },
  { case: 'done', value: {} },
  { case: 'failure', value: { code: 77 as FailureCode, message: long } },
  { case: undefined },
]

describe('an agent that sends invalid answers', () => {
  test('of a wrong kind, or without a result, causes a 502 with a sentence', async () => {
    for (const request of requests) {
      const wrong: Result = request.command === 'inspectContainer' ? containers() : { case: 'inspection', value: {} }
      for (const result of [wrong, { case: undefined } as Result]) {
        const { status, body } = await answered(request, result)
        expect([status, body.error], request.path).toEqual([502, 'badGateway'])
        expect(body.description).toBe(
          'The agent of this node sent an answer that makes no sense. Update the agent, or look at its log.',
        )
      }
    }
  })

  test('has its times clamped: lists and logs are answered', async () => {
    const [list, log] = [requests[0], requests[5]]
    if (!list || !log) throw new Error('both are there')
    expect(await answered(list, containers(container({ createdAt: absurd, startedAt: before })))).toMatchObject({
      status: 200,
      body: [{ createdAt: '9999-12-31T23:59:59.999Z', startedAt: '1970-01-01T00:00:00.000Z' }],
    })
    expect(await answered(log, { case: 'log', value: { lines: [{ at: absurd, text: 'late' }] } })).toMatchObject({
      status: 200,
      body: ['9999-12-31T23:59:59.999999999Z late'],
    })
  })

  test('never causes a 500, whatever it answers to any request', async () => {
    for (const request of requests)
      for (const result of results) {
        const { status, body } = await answered(request, result)
        expect(status, `${request.path} ${result.case}`).not.toBe(500)
        if (status >= 400) expect(body.description).toMatch(/^[A-Zx]/)
        expect(JSON.stringify(body).length).toBeLessThan(3_000_000)
      }
  })

  test('never causes a 500 with random messages', async () => {
    const random = seeded(Number(process.env.CRUX_TEST_SEED ?? 7))
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
    const times = [absurd, before, undefined, { seconds: 0n, nanos: 1_000_000_000 }]
    const texts = ['', '\0', 'a/b', '-x', 'web', '日', 'x'.repeat(70), 'sha256:', id, '{}', '\u202e', 'a@b:c']
    const numbers = [0, 1, 4_294_967_295]
    const text = () => pick(texts)
    const make = {
      containers: (): Result =>
        containers({
          ref: pick([undefined, { prefix: text(), name: text() }]),
          createdAt: pick(times),
          startedAt: pick(times),
          state: pick([0, 1, 4, 12_345]),
          engineState: text(),
          reason: text(),
          health: text(),
          imageName: text(),
          labels: { [text()]: text() },
          ports: [{ internal: pick(numbers), external: pick(numbers), protocol: text() }],
          owned: pick([true, false]),
        }),
      log: (): Result => ({ case: 'log', value: { lines: [{ at: pick(times), text: text() }] } }),
      inspection: (): Result => ({ case: 'inspection', value: { json: text() } }),
      images: (): Result => ({
        case: 'images',
        value: {
          images: [
            {
              id: text(),
              references: [text(), text()],
              containers: [text()],
              createdAt: pick(times),
              fetched: pick([true, false]),
            },
          ],
        },
      }),
    }
    for (let round = 0; round < 300; round++) {
      const request = pick(requests)
      const { status } = await answered(request, make[pick(['containers', 'log', 'inspection', 'images'] as const)]())
      expect(status, `${request.path} in round ${round}`).not.toBe(500)
    }
  })

  test('reports impossible values of itself and of releases, and the server continues', async () => {
    const report = agent.client.reportDeployment({
      release: { deploymentId: crypto.randomUUID(), number: 4_294_967_295 },
      events: [{ sequence: 18_446_744_073_709_551_615n, at: absurd, event: { case: 'outcome', value: {} } }],
    })
    await expect(report).rejects.toMatchObject({ rawMessage: 'the report makes no sense' })
    const node = await testEnvironment.node()
    const odd = await testEnvironment.agent(node, {
      engineVersion: `\0${long}`,
      operatingSystem: long,
      architecture: long,
      openReleases: [{ deploymentId: 'no id', number: 4_294_967_295 }],
    })
    const shown = await testEnvironment.client.call('nodes.get', {
      params: { ...testEnvironment.params, nodeId: node.id },
    })
    expect(shown.engineVersion).toHaveLength(256)
    odd.cut()
  })
})

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
