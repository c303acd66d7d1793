import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from '../../test/kit/test-environment.ts'

let crux: TestServer
let ada: Someone
let testEnvironment: TestEnvironment
beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp()
  testEnvironment = await makeTestEnvironment(crux, ada)
})
afterAll(() => crux.stop())
// Messages of what was changed before would be counted as those of a test.
beforeEach(() => heard())

/** The first result of such a query is delayed, as on a busy connection; others overtake it. */
function keepBack(part: string) {
  const { pool } = crux.app.database
  const { query } = pool
  const { promise: kept, resolve: isKept } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let seen = 0
  pool.query = (async (...args: Parameters<typeof query>) => {
    const [given] = args as unknown as [string | { text: string }]
    const answer = await (query as (...all: unknown[]) => unknown).apply(pool, args)
    if ((typeof given === 'string' ? given : given.text).includes(part) && ++seen === 1) {
      isKept()
      await released
    }
    return answer
  }) as unknown as typeof query
  return {
    kept,
    letGo() {
      pool.query = query
      release()
    },
  }
}
/** Waits until all earlier events were received, and immediate reads have ended. */
async function heard() {
  const { app } = crux
  const nodeId = crypto.randomUUID()
  await new Promise<void>((resolve) => {
    const unsubscribe = app.bus.on('node.work', (event) => {
      if (event.nodeId !== nodeId) return
      unsubscribe()
      resolve()
    })
    app.bus.publish({ type: 'node.work', nodeId })
  })
  for (let round = 0; round < 5; round++) await app.database.pool.query('select 1')
}

it('a configuration that changes twice in quick succession is shown in its last state', async () => {
  const { configId, teamSlug } = testEnvironment
  const revisions: number[] = []
  const channel = crux.live(ada).channel('container-configuration', { teamSlug, configId })
  channel.on('config-updated', ({ revision }) => revisions.push(revision ?? 0))
  await new Promise<void>((resolve) => channel.onReady(resolve))
  const change = (value: string) =>
    crux.client(ada).call('container-configurations.update', {
      params: { teamSlug, configId },
      body: { config: { environment: [{ key: 'A', value }] } },
    })
  const read = keepBack('from crux.container_config c where c.id = $1')
  await change('first')
  await read.kept
  await change('second')
  await heard()
  read.letGo()
  await until(() => revisions.length === 2)
  expect(revisions).toEqual([...revisions].sort())
  channel.close()
})

it('a node that changes twice in quick succession is shown in its last state, also on a page that is opened then', async () => {
  const { nodeId, teamId, teamSlug } = testEnvironment
  const { app } = crux
  const systems = new Map<string, (string | null | undefined)[]>([
    ['looks', []],
    ['opens', []],
  ])
  const look = (caller: string) => {
    const channel = crux.live(ada).channel('nodes', { teamSlug })
    channel.on('event', ({ operatingSystem }) => systems.get(caller)?.push(operatingSystem))
    return channel
  }
  const become = async (system: string) => {
    await app.database.pool.query('update crux.node set operating_system = $2 where id = $1', [nodeId, system])
    app.bus.publish({ type: 'node.changed', teamId, nodeId })
  }
  const channel = look('looks')
  await new Promise<void>((resolve) => channel.onReady(resolve))
  const read = keepBack('from crux.node n where id = $1')
  await become('first')
  await read.kept
  await become('second')
  await heard()
  read.letGo()
  await until(() => systems.get('looks')?.length === 3)
  const opening = keepBack('engine_version, operating_system')
  const opened = look('opens')
  await opening.kept
  await become('third')
  await heard()
  opening.letGo()
  await until(() => systems.get('opens')?.length === 2)
  expect([...systems.values()].map((all) => all.at(-1))).toEqual(['third', 'third'])
  expect(systems.get('looks')).toEqual([null, 'first', 'second', 'third'])
  for (const each of [channel, opened]) each.close()
})

it('an image that is added and removed in quick succession is not shown', async () => {
  const { projectId, versionId, registryId, teamSlug } = testEnvironment
  const params = { teamSlug, projectId, versionId }
  const received: string[] = []
  const [image] = await crux
    .client(ada)
    .call('images.create', { params, body: [{ registryId, images: ['passing:1'] }] })
  const imageId = image?.id ?? ''
  await heard()
  const channel = crux.live(ada).channel('version', params)
  channel.on('images-added', () => received.push('added'))
  channel.on('image-deleted', () => received.push('deleted'))
  await new Promise<void>((resolve) => channel.onReady(resolve))
  const read = keepBack('where i.id = any($1::uuid[])')
  crux.app.bus.publish({ type: 'images.added', versionId, imageIds: [imageId] })
  await read.kept
  await crux.client(ada).call('images.delete', { params: { ...params, imageId } })
  await heard()
  read.letGo()
  await until(() => received.length === 2)
  expect(received).toEqual(['added', 'deleted'])
  channel.close()
})
