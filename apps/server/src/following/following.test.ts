import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import {
  type CountedRegistry,
  finish,
  leaveTeam,
  makeFollowing,
  receive,
  startCountedRegistry,
} from '../../test/follow-kit.ts'
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

type Followed = Awaited<ReturnType<typeof makeFollowing>>
const make = (options?: Parameters<typeof makeFollowing>[2]) => makeFollowing(testEnvironment, registry, options)
/** Resolves once the server has stored that the tag has this digest. */
const seen = ({ registryId, name }: Followed, digest: string) =>
  until(async () => {
    const { rows } = await server.app.database.pool.query(
      'select from crux.followed_tag where registry_id = $1 and name = $2 and digest = $3 and claimed_at is null',
      [registryId, name, digest],
    )
    return rows.length === 1
  })
/** Decides as the server does after a check, and returns how many releases there are. */
async function decide({ deploymentId, releases }: Followed): Promise<number> {
  await startNewer(server.app, deploymentId)
  return (await releases()).length
}

describe('a push', () => {
  it('starts a release of the instances that follow, with the digest of the tag, as the user who switched it on', async () => {
    const followed = await make({ others: 1 })
    const bob = await server.addMember(testEnvironment.team, 'user', 'Bob')
    await followed.switchTo('deploy', server.client(bob))
    await seen(followed, followed.digest)
    const digest = await registry.push(followed.name)
    followed.event()
    const release = await finish(followed.agent, 2)
    expect(release).toMatchObject({
      partial: true,
      hostDangerousAllowed: false,
      instances: [{ instanceId: followed.instanceId, imageDigest: digest }],
    })
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    const [newest, first] = await followed.releases()
    const reference = `${registry.url.replace('http://', '')}/${followed.name}:1.0`
    expect(newest).toMatchObject({
      number: 2,
      trigger: 'follow',
      triggerReason: `new digest of ${reference}`,
      startedBy: { id: bob.id, name: 'Bob' },
      instances: [{ digest }],
    })
    expect(first).toMatchObject({ number: 1, trigger: 'user', triggerReason: null })
    const { rows } = await server.app.database.pool.query(
      `select actor_id, context, accepted, data from crux.audit_log where context = 'rpc' and actor_id = $1`,
      [bob.id],
    )
    expect(rows).toMatchObject([
      { accepted: true, data: { params: { deploymentId: followed.deploymentId }, follow: newest?.triggerReason } },
    ])
    expect(await decide(followed)).toBe(2)
  })

  it('during a release leads to one more, with the newest digest', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await registry.push(followed.name)
    followed.event()
    await receive(followed.agent, 2)
    await registry.push(followed.name)
    followed.event()
    const newest = await registry.push(followed.name)
    followed.event()
    await seen(followed, newest)
    expect(await followed.releases()).toHaveLength(2)
    await finish(followed.agent, 2)
    const third = await finish(followed.agent, 3)
    expect(third.instances[0]?.imageDigest).toBe(newest)
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    expect(await decide(followed)).toBe(3)
  })

  it('starts nothing in a deployment that was never deployed, or that another one replaced', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await server.app.database.pool.query(`update crux.deployment set status = 'obsolete' where id = $1`, [
      followed.deploymentId,
    ])
    const digest = await registry.push(followed.name)
    followed.event()
    await seen(followed, digest)
    expect(await decide(followed)).toBe(1)
    const fresh = await testEnvironment.deployment(followed.version, (await testEnvironment.node()).id)
    const [instance] = (await testEnvironment.get(fresh.id)).instances
    const params = { ...testEnvironment.params, deploymentId: fresh.id, instanceId: instance?.id ?? '' }
    await testEnvironment.client.call('deployments.update-instance', { params, body: { follow: 'deploy' } })
    await startNewer(server.app, fresh.id)
    expect(await testEnvironment.releases(fresh.id)).toEqual([])
  })
})

describe('a digest', () => {
  it('that runs starts nothing when following is switched on', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await seen(followed, followed.digest)
    expect(await decide(followed)).toBe(1)
    expect(await followed.instance()).toMatchObject({ follow: 'deploy', following: { pending: null, error: null } })
  })

  it('whose release failed is not tried again, also after the tag had the running one in between', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await seen(followed, followed.digest)
    const running = await real.push(followed.name, 'kept', { labels: { kept: followed.name } })
    const broken = await registry.push(followed.name)
    followed.event()
    await finish(followed.agent, 2, {}, { fails: 'the container exited' })
    await testEnvironment.waitForStatus(followed.deploymentId, 'failed')
    expect(await decide(followed)).toBe(2)
    const setDigest = (digest: string) =>
      server.app.database.pool.query('update crux.followed_tag set digest = $1 where registry_id = $2', [
        digest,
        followed.registryId,
      ])
    await setDigest(followed.digest)
    expect(await decide(followed)).toBe(2)
    await setDigest(broken)
    expect(await decide(followed)).toBe(2)
    await setDigest(running)
    expect(await decide(followed)).toBe(3)
  })

  it('that a rollback left is not deployed again', async () => {
    const followed = await make()
    const left = await registry.push(followed.name)
    const { client, params } = testEnvironment
    await testEnvironment.start(followed.deploymentId)
    await finish(followed.agent, 2, { [followed.instanceId]: left })
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    await client.call('deployments.start-release', {
      params: { ...params, deploymentId: followed.deploymentId, number: 1 },
      query: {},
    })
    await finish(followed.agent, 3)
    await testEnvironment.waitForStatus(followed.deploymentId, 'successful')
    await followed.switchTo('deploy')
    await seen(followed, left)
    expect(await decide(followed)).toBe(3)
    expect((await followed.instance()).following?.pending?.digest).toBe(left)
    const next = await registry.push(followed.name)
    followed.event()
    expect((await finish(followed.agent, 4)).instances[0]?.imageDigest).toBe(next)
  })

  it('is shown on the page of a deployment that follows with notify, and starts nothing', async () => {
    const followed = await make()
    const live = server.live(testEnvironment.owner)
    let updates = 0
    live
      .channel('deployment', { ...testEnvironment.params, deploymentId: followed.deploymentId })
      .on('following-updated', () => {
        updates++
      })
    await followed.switchTo('notify')
    await seen(followed, followed.digest)
    const digest = await registry.push(followed.name)
    followed.event()
    await seen(followed, digest)
    await until(() => updates > 0)
    expect(await followed.instance()).toMatchObject({
      follow: 'notify',
      following: { by: { id: testEnvironment.owner.id, name: 'Ada' }, pending: { digest } },
    })
    expect(await decide(followed)).toBe(1)
    live.close()
    const previewed = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: followed.deploymentId },
    })
    expect(previewed.instances).toMatchObject([
      { action: 'replace', changes: [{ property: 'digest', from: followed.digest, to: digest }] },
    ])
  })
})

describe('the follower', () => {
  it('who left the team starts nothing: it becomes notify, with the reason', async () => {
    const followed = await make()
    const carol = await server.addMember(testEnvironment.team, 'admin', 'Carol')
    await followed.switchTo('deploy', server.client(carol))
    await seen(followed, followed.digest)
    await leaveTeam(server, carol)
    await registry.push(followed.name)
    followed.event()
    const instance = await until(async () => {
      const now = await followed.instance()
      return now.follow === 'notify' ? now : undefined
    })
    expect(instance.following?.problem).toContain('Carol, who switched this on, is no longer a member of the team')
    const entries = await until(async () => {
      const { rows } = await server.app.database.pool.query(
        `select event, accepted, data from crux.audit_log where context = 'rpc' and actor_id = $1`,
        [carol.id],
      )
      return rows.length > 0 ? rows : undefined
    })
    expect(entries).toMatchObject([
      {
        event: 'instance deployments.update-instance',
        accepted: true,
        data: {
          params: { deploymentId: followed.deploymentId, instanceId: followed.instanceId },
          body: { follow: 'notify' },
          problem: instance.following?.problem,
        },
      },
    ])
    expect(await decide(followed)).toBe(1)
  })

  it('whose account is disabled starts nothing', async () => {
    const followed = await make()
    const dan = await server.addMember(testEnvironment.team, 'user', 'Dan')
    await followed.switchTo('deploy', server.client(dan))
    await seen(followed, followed.digest)
    server.people.disable(dan)
    const digest = await registry.push(followed.name)
    followed.event()
    await seen(followed, digest)
    expect(await decide(followed)).toBe(1)
    expect(await followed.instance()).toMatchObject({
      follow: 'notify',
      following: { problem: expect.stringContaining('no longer exists, or is disabled') },
    })
  })
})

describe('a start that is refused', () => {
  it('because the node is not connected happens when it connects again', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await seen(followed, followed.digest)
    followed.agent.cut()
    await until(async () => {
      const { status } = await testEnvironment.client.call('nodes.get', {
        params: { ...testEnvironment.params, nodeId: followed.node.id },
      })
      return status === 'unreachable'
    })
    const digest = await registry.push(followed.name)
    followed.event()
    await until(async () => (await followed.instance()).following?.problem)
    expect(await followed.releases()).toHaveLength(1)
    const agent = await testEnvironment.agent({ ...followed.node, token: followed.agent.token })
    expect((await finish(agent, 1)).instances[0]?.imageDigest).toBe(digest)
    expect((await followed.instance()).following?.problem).toBeNull()
  })

  it('by a protected deployment shows the reason and happens once the protection is lifted', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await seen(followed, followed.digest)
    const { prefix } = await testEnvironment.get(followed.deploymentId)
    const other = await testEnvironment.client.call('deployments.create', {
      params: testEnvironment.params,
      body: {
        versionId: (await testEnvironment.version()).versionId,
        nodeId: followed.node.id,
        prefix,
        protected: true,
      },
    })
    const digest = await registry.push(followed.name)
    followed.event()
    await seen(followed, digest)
    expect(await decide(followed)).toBe(1)
    expect(await followed.instance()).toMatchObject({
      follow: 'deploy',
      following: { problem: expect.stringContaining('A protected deployment holds'), pending: { digest } },
    })
    await testEnvironment.client.call('deployments.update', {
      params: { ...testEnvironment.params, deploymentId: other.id },
      body: { prefix, protected: false },
    })
    expect(await decide(followed)).toBe(2)
    expect((await followed.instance()).following?.problem).toBeNull()
  })
})
