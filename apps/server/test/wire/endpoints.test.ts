import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../deploy-kit.ts'
import { startTestServer, type TestServer } from '../kit/index.ts'
import { keyOne } from '../node-keys.ts'
import { createRecorder, expectRecorded } from './recorder.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment

beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

it('the dashboard has the counters that existing clients read at the top level, and ours in one object', async () => {
  const recorder = createRecorder(server, { teamId: testEnvironment.team.id, registryId: testEnvironment.registryId })
  const answer = await recorder.request(testEnvironment.owner, 'GET', `/api/${testEnvironment.team.slug}/dashboard`)
  const body = (answer.answer as { body: Record<string, unknown> }).body
  expect(Object.keys(body).filter((name) => typeof body[name] === 'number')).toEqual([
    'users',
    'auditLog',
    'projects',
    'versions',
    'deployments',
    'failedDeployments',
  ])
  expect(body.more).toEqual({ nodes: 0, registries: 2, inProgressDeployments: 0 })
})

it('existing clients get the answer that no usage statistics are collected', async () => {
  const recorder = createRecorder(server, {})
  expectRecorded([await recorder.request(testEnvironment.owner, 'GET', '/api/quality-assurance')], 'quality-assurance')
  expect((await server.request('/api/quality-assurance')).status).toBe(401)
})

it.each(['rolling', 'incremental'] as const)(
  'a new %s version starts with copies of all deployments of the default version, one per node and prefix',
  async (type) => {
    const { pool } = server.app.database
    const { projectId, versionId } = await testEnvironment.version({ type: 'incremental', name: '1.0.0' })
    await pool.query('update crux.version set "default" = true where id = $1', [versionId])
    const node = await testEnvironment.node()
    const statuses = ['successful', 'failed', 'obsolete', 'in-progress'] as const
    for (const status of statuses) {
      const { id } = await testEnvironment.deployment(
        { projectId, versionId, imageIds: [], imageConfigIds: [] },
        node.id,
        status,
      )
      await pool.query(`update crux.deployment set status = $2, protected = true, note = $2 where id = $1`, [
        id,
        status,
      ])
    }
    const version = await testEnvironment.client.call('versions.create', {
      params: { ...testEnvironment.params, projectId },
      body: { name: '1.1.0', type, autoCopyDeployments: false },
    })
    const copy = await testEnvironment.client.call('versions.get', {
      params: { ...testEnvironment.params, projectId, versionId: version.id },
    })
    expect(copy.deployments.map(({ prefix }) => prefix).sort()).toEqual([...statuses].sort())
    for (const deployment of copy.deployments) {
      expect(deployment).toMatchObject({ status: 'preparing', note: deployment.prefix })
      const details = await testEnvironment.get(deployment.id)
      expect(details.protected).toBe(false)
      expect(details.instances).toHaveLength(1)
    }
  },
)

it('a copy to another node has no secrets of instances, including keys that the image does not require', async () => {
  const seeded = await testEnvironment.version({
    images: [{ name: 'web', config: { secrets: [{ key: 'TOKEN', required: true }] } }],
  })
  const [here, there] = [await testEnvironment.node(), await testEnvironment.node()]
  const { id } = await testEnvironment.deployment(seeded, here.id)
  const instance = (await testEnvironment.get(id)).instances[0]
  const own = [
    { key: 'TOKEN', required: true, value: 'sealed', encrypted: true, publicKey: keyOne },
    { key: 'OWN', required: false, value: 'sealed', encrypted: true, publicKey: keyOne },
  ]
  await server.app.database.pool.query(
    `update crux.container_config set fields = jsonb_build_object('secrets', $2::jsonb) where instance_id = $1`,
    [instance?.id, JSON.stringify(own)],
  )
  const copyTo = async (nodeId: string) => {
    const copy = await testEnvironment.client.call('deployments.copy', {
      params: { ...testEnvironment.params, deploymentId: id },
      body: { nodeId, prefix: `copy${nodeId.slice(0, 8)}` },
    })
    return (await testEnvironment.get(copy.id)).instances[0]?.config
  }
  expect((await copyTo(there.id))?.secrets ?? null).toBeNull()
  expect((await copyTo(here.id))?.secrets?.map(({ key }) => key)).toEqual(['TOKEN', 'OWN'])
})
