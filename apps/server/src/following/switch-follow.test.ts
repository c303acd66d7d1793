import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type CountedRegistry, makeFollowing, startCountedRegistry } from '../../test/follow-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let real: Registry
let registry: CountedRegistry
let server: TestServer
let testEnvironment: DeployTestEnvironment

beforeAll(async () => {
  real = await startRegistry()
  registry = await startCountedRegistry(real)
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await server.stop()
  await registry.stop()
  await real.remove()
})

const make = (options?: Parameters<typeof makeFollowing>[2]) => makeFollowing(testEnvironment, registry, options)
const dangerous = { networkMode: 'host' as const }

describe('switching what an instance follows', () => {
  it('is off at first, needs no right beyond those of a user, and changes no configuration', async () => {
    const followed = await make()
    const before = await followed.instance()
    expect(before.follow).toBe('off')
    expect(before.following).toBeUndefined()
    await followed.switchTo('deploy', server.client(await server.addMember(testEnvironment.team, 'user')))
    const after = await followed.instance()
    expect(after).toMatchObject({ follow: 'deploy', config: { revision: before.config.revision } })
    await followed.switchTo('off')
    expect(await followed.instance()).toMatchObject({ follow: 'off' })
  })

  it('is refused to members of other teams, and to service accounts', async () => {
    const followed = await make()
    const stranger = server.signUp('Eve')
    await server.createTeam(stranger)
    await expect(followed.switchTo('deploy', server.client(stranger))).rejects.toMatchObject({ status: 403 })
    const { client, params } = testEnvironment
    const { id } = await client.call('service-accounts.create', { params, body: { name: 'Pipeline', role: 'admin' } })
    const { token } = await client.call('service-accounts.create-token', {
      params: { ...params, serviceAccountId: id },
      body: { name: 'Pipeline', expirationInDays: 1 },
    })
    const account = server.client({ ...testEnvironment.owner, token })
    await expect(followed.switchTo('notify', account)).rejects.toMatchObject({ status: 403, property: 'follow' })
    expect((await followed.instance()).follow).toBe('off')
  })

  it('to deploy is refused where the configuration reaches the node, also for an admin', async () => {
    const followed = await make({ config: dangerous })
    await expect(followed.switchTo('deploy')).rejects.toMatchObject({
      status: 412,
      property: 'follow',
      description: expect.stringContaining('reaches the node'),
    })
    await followed.switchTo('notify')
  })

  it('becomes notify, with the reason, when the configuration comes to reach the node', async () => {
    const followed = await make()
    await followed.switchTo('deploy')
    await testEnvironment.client.call('deployments.update-instance', {
      params: followed.at,
      body: { config: dangerous },
    })
    const instance = await until(async () => {
      const now = await followed.instance()
      return now.follow === 'notify' ? now : undefined
    })
    expect(instance.following?.problem).toContain('was changed from Deploy to Notify')
  })

  it.each(['is changed to reach it', 'is added to the deployment'])(
    'becomes notify, with an entry in the audit log, when a bundle that reaches the node %s',
    async (moment) => {
      const { client, params, owner } = testEnvironment
      const followed = await make()
      const { prefix } = await testEnvironment.get(followed.deploymentId)
      const bundle = await client.call('config-bundles.create', { params, body: { name: `Bundle that ${moment}` } })
      const add = () =>
        client.call('deployments.update', {
          params: { ...params, deploymentId: followed.deploymentId },
          body: { prefix, protected: false, configBundles: [bundle.id] },
        })
      const change = () =>
        client.call('config-bundles.update', {
          params: { ...params, configBundleId: bundle.id },
          body: { config: dangerous },
        })
      const [before, after] = moment === 'is added to the deployment' ? [change, add] : [add, change]
      await before()
      await followed.switchTo('deploy')
      await after()
      const instance = await until(async () => {
        const now = await followed.instance()
        return now.follow === 'notify' ? now : undefined
      })
      expect(instance.following?.problem).toContain('was changed from Deploy to Notify')
      await expect(followed.switchTo('deploy')).rejects.toMatchObject({ status: 412, property: 'follow' })
      const entry = await until(async () => {
        const { rows } = await server.app.database.pool.query(
          `select actor_id, event, accepted, data from crux.audit_log
         where context = 'rpc' and data #>> '{params,instanceId}' = $1`,
          [followed.instanceId],
        )
        return rows[0]
      })
      expect(entry).toMatchObject({
        actorId: owner.id,
        event: 'instance deployments.update-instance',
        accepted: true,
        data: { body: { follow: 'notify' }, problem: instance.following?.problem },
      })
    },
  )

  it('is refused for incremental versions and for registries that Crux sends no requests to', async () => {
    const node = await testEnvironment.node()
    const local = await testEnvironment.registry({ local: true })
    for (const [version, text] of [
      [await testEnvironment.version({ type: 'incremental' }), 'Only deployments of rolling versions'],
      [
        await testEnvironment.version({ images: [{ name: 'own', registryId: local }] }),
        'Crux sends no requests to this registry',
      ],
    ] as const) {
      const deployment = await testEnvironment.deployment(version, node.id)
      const [instance] = (await testEnvironment.get(deployment.id)).instances
      const params = { ...testEnvironment.params, deploymentId: deployment.id, instanceId: instance?.id ?? '' }
      await expect(
        testEnvironment.client.call('deployments.update-instance', { params, body: { follow: 'notify' } }),
      ).rejects.toMatchObject({ status: 412, property: 'follow', description: expect.stringContaining(text) })
    }
  })

  it('to deploy is refused where another deployment is protected', async () => {
    const followed = await make()
    const { prefix } = await testEnvironment.get(followed.deploymentId)
    await testEnvironment.client.call('deployments.create', {
      params: testEnvironment.params,
      body: {
        versionId: (await testEnvironment.version()).versionId,
        nodeId: followed.node.id,
        prefix,
        protected: true,
      },
    })
    await expect(followed.switchTo('deploy')).rejects.toMatchObject({
      status: 412,
      property: 'follow',
      description: expect.stringContaining('A protected deployment holds'),
    })
  })
})
