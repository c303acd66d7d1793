import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
})
beforeEach(async () => {
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

/** Locks rows as a slow request would; other transactions wait until `let go`. */
async function hold(table: string, id: string) {
  const client = await server.app.database.pool.connect()
  await client.query('begin')
  await client.query(`select from crux.${table} where id = $1 for update`, [id])
  return async () => {
    await client.query('rollback')
    client.release()
  }
}
/** Waits until this number of transactions of this database wait for others. */
const waiting = (count: number) =>
  until(async () => {
    const { rows } = await server.app.database.pool.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0]?.n ?? 0) >= count
  })
/** "ok", or the code of the refusal. */
const outcome = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'ok',
    (error: { error?: string }) => error.error ?? String(error),
  )
const over = (request: Promise<string>) => {
  let ended = false
  void request.then(() => {
    ended = true
  })
  return () => ended
}
/** Waits until the second request has ended, or waits for a lock. */
const settled = async (second: Promise<string>, count: number) => {
  const isOver = over(second)
  await Promise.race([until(isOver, 10_000), waiting(count)])
}

const bundle = async (name: string, value: string) => {
  const { params, client } = testEnvironment
  const made = await client.call('config-bundles.create', { params, body: { name } })
  const config = { environment: [{ key: 'FROM', value }] }
  await client.call('config-bundles.update', { params: { ...params, configBundleId: made.id }, body: { config } })
  return made.id
}
const update = (deploymentId: string, body: { prefix: string; configBundles?: string[] }) =>
  outcome(
    testEnvironment.client.call('deployments.update', {
      params: { ...testEnvironment.params, deploymentId },
      body: { protected: false, ...body },
    }),
  )
const patch = (configId: string) =>
  outcome(
    testEnvironment.client.call('container-configurations.update', {
      params: { ...testEnvironment.params, configId },
      body: { config: { environment: [{ key: 'PATCHED', value: 'yes' }] } },
    }),
  )
const start = (deploymentId: string) => outcome(testEnvironment.start(deploymentId))
const released = async (deploymentId: string) => {
  const { rows } = await server.app.database.pool.query(
    `select r.prefix, ri.config->'environment' as environment from crux.release r
     join crux.release_instance ri on ri.release_id = r.id where r.deployment_id = $1`,
    [deploymentId],
  )
  return rows[0]
}
const ready = async (type: 'rolling' | 'incremental' = 'rolling') => {
  const node = await testEnvironment.node()
  await testEnvironment.agent(node)
  const version = await testEnvironment.version({ type })
  const deployment = await testEnvironment.deployment(version, node.id)
  const details = await testEnvironment.get(deployment.id)
  const [instance] = details.instances
  if (!instance) throw new Error('a deployment has an instance')
  return { node, version, id: deployment.id, instance, configId: instance.config.id }
}
/** A newer version is dispatched to the agent, to replace the containers of an older one. */
const takeover = async (prefix: string) => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const projectId = await testEnvironment.project()
  const older = await testEnvironment.deployment(
    await testEnvironment.version({ projectId, name: '1' }),
    node.id,
    prefix,
  )
  const newer = await testEnvironment.deployment(
    await testEnvironment.version({ projectId, name: '2' }),
    node.id,
    prefix,
  )
  await testEnvironment.start(older.id)
  await deployWell(agent)
  await testEnvironment.waitForStatus(older.id, 'successful')
  await testEnvironment.start(newer.id)
  await agent.command('deploy', 2)
  return { agent, projectId, older, newer }
}

describe('the start of a deployment', () => {
  it('behind an edit includes the whole edit, never half of it', async () => {
    const { id } = await ready()
    const [before, after] = [await bundle('before', 'before'), await bundle('after', 'after')]
    await update(id, { prefix: 'before', configBundles: [before] })
    const letGo = await hold('config_bundle', after)
    const edited = update(id, { prefix: 'after', configBundles: [after] })
    await waiting(1)
    const started = start(id)
    await waiting(2)
    await letGo()
    expect(await Promise.all([edited, started])).toEqual(['ok', 'ok'])
    expect(await released(id)).toMatchObject({ prefix: 'after', environment: [{ key: 'FROM', value: 'after' }] })
  })

  it.each(['instance', 'image'] as const)(
    'includes every change of a layer that was accepted before it (%s)',
    async (layer) => {
      const { id, instance } = await ready('incremental')
      const configId = layer === 'instance' ? instance.config.id : instance.image.config.id
      const letGo = await hold(layer, layer === 'instance' ? instance.id : instance.image.id)
      const patched = patch(configId)
      await waiting(1)
      const started = start(id)
      await settled(started, 2)
      await letGo()
      expect(await Promise.all([patched, started])).toEqual(['ok', 'ok'])
      expect((await released(id)).environment).toMatchObject([{ key: 'PATCHED' }])
      expect(await patch(configId)).toBe('invalidArgument')
    },
  )

  it('is not deleted by a concurrent deletion of its version or project', async () => {
    const { id, version, node } = await ready('incremental')
    const { projectId, versionId } = version
    for (const remove of [
      () =>
        testEnvironment.client.call('versions.delete', { params: { ...testEnvironment.params, projectId, versionId } }),
      () => testEnvironment.client.call('projects.delete', { params: { ...testEnvironment.params, projectId } }),
    ]) {
      await server.app.database.pool.query(`update crux.deployment set status = 'preparing' where id = $1`, [id])
      await server.app.database.pool.query('delete from crux.release where deployment_id = $1', [id])
      const letGo = await hold('node', node.id)
      const started = start(id)
      await waiting(1)
      const removed = outcome(remove())
      await settled(removed, 2)
      await letGo()
      expect(await Promise.all([started, removed])).toEqual(['ok', 'preconditionFailed'])
      expect((await testEnvironment.get(id)).status).toBe('in-progress')
    }
  })

  it('does not deadlock with the deletion of its team', async () => {
    const first = await ready()
    const { id } = await ready()
    const letGo = await hold('deployment', first.id)
    const removed = outcome(
      testEnvironment.client.call('teams.delete', { params: { teamId: testEnvironment.team.id } }),
    )
    await waiting(1)
    const started = start(id)
    await settled(started, 2)
    await letGo()
    expect(await removed).toBe('ok')
    expect(await started).toBe('notFound')
  })
})

describe('two starts at one deployment target', () => {
  it('send one release at the same moment, and the other one after it', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const projectId = await testEnvironment.project()
    const ids = await Promise.all(
      ['1', '2'].map(async (name) => {
        const version = await testEnvironment.version({ projectId, name })
        return (await testEnvironment.deployment(version, node.id, 'raced')).id
      }),
    )
    // Both have looked for a release before them, and neither has stored its own.
    const client = await server.app.database.pool.connect()
    await client.query('begin')
    await client.query('lock table crux.release in share mode')
    const started = Promise.all(ids.map(start))
    await waiting(2)
    await client.query('rollback')
    client.release()
    expect(await started).toEqual(['ok', 'ok'])
    const sent = [await deployWell(agent), await deployWell(agent, 2)].map(({ key }) => key?.deploymentId ?? '')
    expect(sent.toSorted()).toEqual(ids.toSorted())
    const lines = await Promise.all(sent.map((id) => testEnvironment.events(id)))
    expect(lines.map((events) => events.filter(({ log }) => log?.log[0]?.startsWith('Waiting behind')).length)).toEqual(
      [0, 1],
    )
  })
})

describe('a change of a configuration', () => {
  it('runs before or after the deletion of its deployment, never at the same time', async () => {
    const { id, instance, configId } = await ready()
    const letGo = await hold('instance', instance.id)
    const patched = patch(configId)
    await waiting(1)
    const deleted = outcome(
      testEnvironment.client.call('deployments.delete', {
        params: { ...testEnvironment.params, deploymentId: id },
        query: {},
      }),
    )
    await settled(deleted, 2)
    await letGo()
    expect(await Promise.all([patched, deleted])).toEqual(['ok', 'ok'])
  })

  it('runs before or after the deletion of its version, never at the same time', async () => {
    const { instance, version, configId } = await ready()
    const { projectId, versionId } = version
    const letGo = await hold('instance', instance.id)
    const deleted = outcome(
      testEnvironment.client.call('versions.delete', { params: { ...testEnvironment.params, projectId, versionId } }),
    )
    await waiting(1)
    const patched = patch(configId)
    await settled(patched, 2)
    await letGo()
    expect(await Promise.all([deleted, patched])).toEqual(['ok', 'notFound'])
  })

  it('runs before or after the deletion of its image, never at the same time', async () => {
    const { instance, version } = await ready()
    const { projectId, versionId } = version
    const letGo = await hold('image', instance.image.id)
    const deleted = outcome(
      testEnvironment.client.call('images.delete', {
        params: { ...testEnvironment.params, projectId, versionId, imageId: instance.image.id },
      }),
    )
    await waiting(1)
    const patched = patch(instance.image.config.id)
    await settled(patched, 2)
    await letGo()
    expect(await Promise.all([deleted, patched])).toEqual(['ok', 'notFound'])
  })

  it('runs before or after the deletion of its bundle, never at the same time', async () => {
    const id = await bundle('going', 'x')
    const { configId } = await testEnvironment.client.call('config-bundles.get', {
      params: { ...testEnvironment.params, configBundleId: id },
    })
    const letGo = await hold('config_bundle', id)
    const deleted = outcome(
      testEnvironment.client.call('config-bundles.delete', {
        params: { ...testEnvironment.params, configBundleId: id },
      }),
    )
    await waiting(1)
    const patched = patch(configId)
    await settled(patched, 2)
    await letGo()
    expect(await Promise.all([deleted, patched])).toEqual(['ok', 'notFound'])
  })
})

describe('a deployment target', () => {
  it('is protected by one version, also after two concurrent requests', async () => {
    const node = await testEnvironment.node()
    const versions = [await testEnvironment.version(), await testEnvironment.version()]
    const letGo = await hold('node', node.id)
    const asked = versions.map(({ versionId }) =>
      outcome(
        testEnvironment.client.call('deployments.create', {
          params: testEnvironment.params,
          body: { versionId, nodeId: node.id, prefix: 'kept', protected: true },
        }),
      ),
    )
    await waiting(2)
    await letGo()
    expect((await Promise.all(asked)).sort()).toEqual(['ok', 'preconditionFailed'])
  })

  it('loses no containers to a deletion while a newer version takes them over', async () => {
    const { agent, older } = await takeover('handed')
    const remove = (containers: 'true' | 'false') =>
      outcome(
        testEnvironment.client.call('deployments.delete', {
          params: { ...testEnvironment.params, deploymentId: older.id },
          query: { containers },
        }),
      )
    const removed = remove('true')
    await Promise.race([removed, agent.command('deleteContainers')])
    expect(agent.received.map((message) => message.command.case)).not.toContain('deleteContainers')
    expect(await removed).toBe('preconditionFailed')
    expect(await remove('false')).toBe('ok')
  })

  it('is taken over while the cancellation of its previous deployment is requested', async () => {
    const { agent, older } = await takeover('changes')
    // As a cancellation does: first the deployment, then its release.
    const client = await server.app.database.pool.connect()
    await client.query('begin')
    await client.query('select from crux.deployment where id = $1 for update', [older.id])
    const reported = outcome(deployWell(agent, 2))
    await waiting(1)
    const locked = outcome(client.query('select from crux.release where deployment_id = $1 for update', [older.id]))
    expect(await locked).toBe('ok')
    await client.query('rollback')
    client.release()
    expect(await reported).toBe('ok')
    expect((await testEnvironment.get(older.id)).status).toBe('obsolete')
  })

  it('is taken over while the deletion of its project is requested', async () => {
    const { agent, projectId, newer } = await takeover('stays')
    const { rows } = await server.app.database.pool.query('select id from crux.release where deployment_id = $1', [
      newer.id,
    ])
    const letGo = await hold('release', rows[0].id)
    const reported = outcome(deployWell(agent, 2))
    await waiting(1)
    const removed = outcome(
      testEnvironment.client.call('projects.delete', { params: { ...testEnvironment.params, projectId } }),
    )
    await settled(removed, 2)
    await letGo()
    expect(await Promise.all([reported, removed])).toEqual(['ok', 'preconditionFailed'])
    expect((await testEnvironment.get(newer.id)).status).toBe('successful')
  })

  it('has one deployment of a rolling version, also after two concurrent moves', async () => {
    const { id, version, node } = await ready()
    const other = await testEnvironment.deployment(version, node.id)
    await server.app.database.pool.query(`update crux.deployment set status = 'failed' where version_id = $1`, [
      version.versionId,
    ])
    const held = await bundle('held', 'x')
    const letGo = await hold('config_bundle', held)
    const first = update(id, { prefix: 'same', configBundles: [held] })
    await waiting(1)
    const second = update(other.id, { prefix: 'same' })
    await settled(second, 2)
    await letGo()
    expect(await Promise.all([first, second])).toEqual(['ok', 'rollingVersionDeployment'])
  })
})
