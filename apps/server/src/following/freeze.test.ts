import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type CountedRegistry, finish, makeFollowing, startCountedRegistry } from '../../test/follow-kit.ts'
import { frozenNow, inDays, makeEnvironment } from '../../test/freeze-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { startNewer } from './start-newer.ts'

let real: Registry
let registry: CountedRegistry
let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  real = await startRegistry()
  registry = await startCountedRegistry(real)
  server = await startTestServer({ config: { followQuietMs: 0 } })
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await server.stop()
  await registry.stop()
  await real.remove()
})

/** A deployment that follows, in an environment that freezes from now on, with a new digest that waits. */
async function makeWaiting() {
  const followed = await makeFollowing(testEnvironment, registry)
  await followed.switchTo('deploy')
  const { prefix } = await testEnvironment.get(followed.deploymentId)
  const environment = await makeEnvironment(testEnvironment, { nodeId: followed.node.id, prefix })
  const { id: windowId } = await environment.freeze(frozenNow('Release week'))
  const digest = await registry.push(followed.name)
  followed.event()
  const problem = await until(async () => (await followed.instance()).following?.problem)
  return { ...followed, environment, windowId, digest, problem }
}
const dueAt = async (instanceId: string): Promise<Date | null> => {
  const { rows } = await server.app.database.pool.query('select follow_due_at from crux.instance where id = $1', [
    instanceId,
  ])
  return rows[0].followDueAt ?? rows[0].follow_due_at
}
const endWindow = (windowId: string) =>
  server.app.database.pool.query(
    `update crux.freeze_window set starts_at = now() - interval '2 days', ends_at = now() - interval '1 second'
     where id = $1`,
    [windowId],
  )
const refusals = async (deploymentId: string) => {
  const { rows } = await server.app.database.pool.query(
    `select data from crux.audit_log where event = 'deployment-start deployments.start' and not accepted
      and data -> 'params' ->> 'deploymentId' = $1`,
    [deploymentId],
  )
  return rows
}

it('a new digest during a freeze waits for its end, says why, and starts by itself then', async () => {
  const waiting = await makeWaiting()
  expect(waiting.problem).toContain(`${waiting.environment.name} is frozen until`)
  expect(waiting.problem).toContain('Release week')
  expect(await waiting.instance()).toMatchObject({
    follow: 'deploy',
    following: { pending: { digest: waiting.digest } },
  })
  expect(await waiting.releases()).toHaveLength(1)
  // Due at the end of the window, a day from now.
  const due = (await dueAt(waiting.instanceId))?.getTime() ?? 0
  expect(due).toBeGreaterThan(Date.parse(inDays(0.9)))
  expect(due).toBeLessThan(Date.parse(inDays(1.1)))
  // The window ends, and with it the waiting.
  await endWindow(waiting.windowId)
  await server.app.database.pool.query('update crux.instance set follow_due_at = now() where id = $1', [
    waiting.instanceId,
  ])
  const release = await finish(waiting.agent, 2)
  expect(release.instances).toMatchObject([{ imageDigest: waiting.digest }])
  expect((await waiting.instance()).following?.problem).toBeNull()
})

it('what waits is started by one of two servers that decide at the end of the freeze', async () => {
  const waiting = await makeWaiting()
  await endWindow(waiting.windowId)
  const second = await startTestServer({
    config: { followQuietMs: 0 },
    database: server.database,
    people: server.people,
  })
  try {
    await Promise.all([startNewer(server.app, waiting.deploymentId), startNewer(second.app, waiting.deploymentId)])
  } finally {
    await second.stop({ database: true })
  }
  expect(await waiting.releases()).toHaveLength(2)
})

it('deciding again during the freeze starts nothing, and writes one entry into the audit log', async () => {
  const waiting = await makeWaiting()
  const waitMs = await startNewer(server.app, waiting.deploymentId)
  await startNewer(server.app, waiting.deploymentId)
  expect(waitMs).toBeGreaterThan(80_000_000)
  expect(await waiting.releases()).toHaveLength(1)
  expect(await refusals(waiting.deploymentId)).toMatchObject([
    { data: { refused: { error: 'preconditionFailed', property: 'freezeWindow' } } },
  ])
})

it('what waits starts at once when the window is deleted', async () => {
  const waiting = await makeWaiting()
  await waiting.environment.remove(waiting.windowId)
  await finish(waiting.agent, 2)
  expect(await waiting.releases()).toMatchObject([
    { number: 2, trigger: 'follow', overrideFreeze: null },
    { number: 1 },
  ])
})

it.each([
  ['moved', 'packages.update-environment'],
  ['deleted', 'packages.delete-environment'],
  ['deleted with its package', 'packages.delete'],
] as const)('what waits starts at once when its environment is %s', async (_, operation) => {
  const waiting = await makeWaiting()
  const { call } = testEnvironment.client
  const params = waiting.environment.path
  if (operation === 'packages.update-environment')
    await call(operation, { params, body: { name: 'prod', nodeId: waiting.node.id, prefix: 'elsewhere' } })
  else await call(operation, { params })
  await finish(waiting.agent, 2)
  expect(await waiting.releases()).toMatchObject([{ number: 2, trigger: 'follow' }, { number: 1 }])
})
