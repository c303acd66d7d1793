import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import {
  answerWith,
  type CountedRegistry,
  finish,
  makeFollowing,
  receive,
  startCountedRegistry,
} from '../../test/follow-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let real: Registry
let server: TestServer
let second: TestServer
let testEnvironment: DeployTestEnvironment
const registries: CountedRegistry[] = []

beforeAll(async () => {
  real = await startRegistry()
  server = await startTestServer()
  second = await startTestServer({ database: server.database, people: server.people })
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await second.stop({ database: true })
  await server.stop()
  for (const registry of registries) await registry.stop()
  await real.remove()
})

async function make() {
  const registry = await startCountedRegistry(real)
  registries.push(registry)
  return { registry, followed: await makeFollowing(testEnvironment, registry) }
}
type Followed = Awaited<ReturnType<typeof makeFollowing>>
const untilFollowing = (followed: Followed, matches: (following: Record<string, unknown>) => boolean) =>
  until(async () => {
    const { following } = await followed.instance()
    return following && matches(following) ? following : undefined
  }, 20_000)
const isChecked = ({ checkedAt }: Record<string, unknown>) => checkedAt !== null
/** Makes the regular check due. */
const makeDue = ({ registryId }: Followed) =>
  server.app.database.pool.query('update crux.followed_tag set next_check_at = now() where registry_id = $1', [
    registryId,
  ])

describe('the check of a tag', () => {
  it('finds a new digest without any event, by one HEAD for all deployments that follow the tag', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const other = await testEnvironment.deployment(followed.version, node.id)
    const [instance] = (await testEnvironment.get(other.id)).instances
    const instanceId = instance?.id ?? ''
    await testEnvironment.start(other.id)
    await finish(agent, 1, { [instanceId]: followed.digest })
    await testEnvironment.client.call('deployments.update-instance', {
      params: { ...testEnvironment.params, deploymentId: other.id, instanceId },
      body: { follow: 'deploy' },
    })
    await until(async () => {
      const { rows } = await server.app.database.pool.query(
        'select from crux.followed_tag where registry_id = $1 and next_check_at > now() and claimed_at is null',
        [followed.registryId],
      )
      return rows.length === 1
    })
    const before = registry.heads(followed.name)
    const digest = await registry.push(followed.name)
    await makeDue(followed)
    for (const [one, nth] of [
      [followed.agent, 2],
      [agent, 2],
    ] as const)
      expect((await finish(one, nth)).instances[0]?.imageDigest).toBe(digest)
    expect(registry.heads(followed.name)).toBe(before + 1)
  })

  it.each([
    [401, /without credentials/],
    [500, /500/],
  ])('that a registry answers with %i shows the error, keeps the digest, and recovers', async (status, text) => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    registry.answers(answerWith(status))
    const digest = await registry.push(followed.name)
    await makeDue(followed)
    const failed = await untilFollowing(followed, ({ error }) => error !== null)
    expect(failed.error).toMatch(text)
    expect(failed.pending).toBeNull()
    expect(await followed.releases()).toHaveLength(1)
    registry.answers(() => false)
    followed.event()
    expect((await finish(followed.agent, 2)).instances[0]?.imageDigest).toBe(digest)
    expect((await followed.instance()).following?.error).toBeNull()
  })

  it('that a registry answers with 429 is not repeated before the time that it names, also after an event', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    registry.answers(answerWith(429, { 'retry-after': '600' }))
    await makeDue(followed)
    const limited = await untilFollowing(followed, ({ error }) => error !== null)
    expect(limited.error).toContain('too many requests. Try again in 10 minutes')
    expect(Date.parse(String(limited.nextCheckAt)) - Date.parse(String(limited.checkedAt))).toBeGreaterThan(590_000)
    const before = registry.heads(followed.name)
    registry.answers(() => false)
    await registry.push(followed.name)
    followed.event()
    // An event that was sent later has been handled by then, so that this one was as well.
    const { followed: other } = await make()
    await other.switchTo('notify')
    other.event()
    await untilFollowing(other, isChecked)
    expect(registry.heads(followed.name)).toBe(before)
    expect(await followed.releases()).toHaveLength(1)
  })

  it('that a registry leaves unanswered delays no check of another registry', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    registry.answers(() => true)
    await makeDue(followed)
    const before = registry.heads(followed.name)
    await until(() => registry.heads(followed.name) > before)
    const { registry: quick, followed: other } = await make()
    await other.switchTo('deploy')
    const digest = await quick.push(other.name)
    other.event()
    expect((await receive(other.agent, 2)).instances[0]?.imageDigest).toBe(digest)
    const failed = await untilFollowing(followed, ({ error }) => error !== null)
    expect(failed.error).toContain('Could not reach the registry')
  })

  it('says that a tag does not exist any more', async () => {
    const { followed } = await make()
    await followed.switchTo('notify')
    await untilFollowing(followed, isChecked)
    await real.deleteTag(followed.name, '1.0')
    followed.event()
    const missing = await untilFollowing(followed, ({ error }) => error !== null)
    expect(missing.error).toContain(`The registry has no ${followed.name}:1.0`)
  })
})

describe('a storm of 1,000 events at two servers', () => {
  it('leads to one release at once and one more with the newest digest, and to few requests', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    const before = registry.heads(followed.name)
    let newest = ''
    for (let round = 0; round < 10; round++) {
      newest = await registry.push(followed.name)
      for (let count = 0; count < 50; count++) for (const one of [server, second]) followed.event(one)
      if (round === 0) expect((await receive(followed.agent, 2)).instances[0]?.imageDigest).toBe(newest)
    }
    await finish(followed.agent, 2)
    const last = await finish(followed.agent, 3)
    expect(last.instances[0]?.imageDigest).toBe(newest)
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    const releases = await followed.releases()
    expect(releases.map(({ trigger }) => trigger)).toEqual(['follow', 'follow', 'user'])
    const [third, first] = releases
    expect(Date.parse(String(third?.startedAt)) - Date.parse(String(first?.startedAt))).toBeGreaterThanOrEqual(9_900)
    expect(registry.heads(followed.name) - before).toBeLessThan(40)
  })
})

describe('two servers on one database', () => {
  it('start one release for one digest, whichever of them hears of it', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    const digest = await registry.push(followed.name)
    followed.event(second)
    expect((await finish(followed.agent, 2)).instances[0]?.imageDigest).toBe(digest)
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    followed.event(server)
    followed.event(second)
    await untilFollowing(followed, ({ pending }) => pending === null)
    expect(await followed.releases()).toHaveLength(2)
  })

  it('take over the check of a server that ended during it', async () => {
    const { registry, followed } = await make()
    await followed.switchTo('deploy')
    await untilFollowing(followed, isChecked)
    const digest = await registry.push(followed.name)
    await server.app.database.pool.query(
      `update crux.followed_tag set next_check_at = now(), claimed_at = now() - interval '61 seconds'
       where registry_id = $1`,
      [followed.registryId],
    )
    expect((await receive(followed.agent, 2)).instances[0]?.imageDigest).toBe(digest)
  })
})
