import type { ContainerConfigFields } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'

let crux: TestServer
let testEnvironment: DeployTestEnvironment
let user: Someone
beforeAll(async () => {
  crux = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(crux)
  user = await crux.addMember(testEnvironment.team, 'user')
})
afterAll(() => crux.stop())

const hostPath = (name: string): ContainerConfigFields => ({ volumes: [{ name, path: '/data', type: 'ro' }] })
const at = (deploymentId: string) => ({ ...testEnvironment.params, deploymentId })
const sql = <R extends object>(text: string, values: unknown[]) =>
  crux.app.database.pool.query<R>(text, values).then(({ rows }) => rows)

async function prepare(config: ContainerConfigFields = hostPath('/srv/data')) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const version = await testEnvironment.version({ images: [{ name: 'web', config }, { name: 'db' }] })
  const { id } = await testEnvironment.deployment(version, node.id)
  const details = await testEnvironment.get(id)
  const instance = (index: number) => details.instances[index] ?? { id: '', config: { id: '' } }
  return { id, node, agent, version, details, web: instance(0), db: instance(1) }
}
const patch = (configId: string, config: object, as: Someone = user) =>
  crux
    .client(as)
    .call('container-configurations.update', { params: { ...testEnvironment.params, configId }, body: { config } })
const toHash = async (id: string, instances?: string[]) =>
  (
    await testEnvironment.client.call('deployments.preview', {
      params: at(id),
      query: instances && { instances: instances.join() },
    })
  ).hash
const start = (id: string, body: { expectedHash?: string; instances?: string[] }) =>
  testEnvironment.client.call('deployments.start', { params: at(id), query: {}, body })
const confirmed = (id: string) =>
  sql<{ subject: { config: { environment?: { key: string }[] } } }>(
    'select subject from crux.danger_confirmation where deployment_id = $1',
    [id],
  )
const changed = {
  status: 412,
  property: 'expectedHash',
  description: 'The configuration has changed since your preview: review the changes, then deploy again.',
}

describe('a start with the hash of the confirmed preview', () => {
  it('is refused, and confirms nothing, when another user edited the configuration in between', async () => {
    const { id, web } = await prepare()
    const seen = await toHash(id)
    await patch(web.config.id, { environment: [{ key: 'LD_PRELOAD', value: '/data/x.so' }] })
    await expect(start(id, { expectedHash: seen })).rejects.toMatchObject(changed)
    expect(await confirmed(id)).toEqual([])
    expect((await testEnvironment.get(id)).status).toBe('preparing')
    expect(await testEnvironment.releases(id)).toEqual([])
    // After another preview the admin accepts it.
    await start(id, { expectedHash: await toHash(id) })
    expect((await confirmed(id))[0]?.subject.config.environment).toMatchObject([{ key: 'LD_PRELOAD' }])
  })

  it('succeeds when nothing changed, or a change was reverted', async () => {
    const { id, agent, web } = await prepare()
    const seen = await toHash(id)
    await patch(web.config.id, { environment: [{ key: 'A', value: '1' }] })
    expect(await toHash(id)).not.toBe(seen)
    await patch(web.config.id, { environment: null })
    await start(id, { expectedHash: seen })
    await deployWell(agent)
    await testEnvironment.waitForStatus(id, 'successful')
    await start(id, { expectedHash: await toHash(id) })
  })

  it('covers the selected instances alone', async () => {
    const { id, web, db } = await prepare()
    const seen = await toHash(id, [web.id])
    await patch(db.config.id, { environment: [{ key: 'A', value: '1' }] })
    await expect(start(id, { expectedHash: seen })).rejects.toMatchObject(changed)
    await start(id, { expectedHash: seen, instances: [web.id] })
  })

  it('detects a change of every part of the deployed content', async () => {
    const { id, version, web, details, node } = await prepare()
    const storage = async (url: string) =>
      (
        await sql<{ id: string }>(
          `insert into crux.storage (team_id, name, url, created_by, updated_by) values ($1, $2, $2, 's', 's') returning id`,
          [testEnvironment.team.id, url],
        )
      )[0]?.id ?? ''
    const storageId = await storage('https://one.example.com')
    const params = { ...testEnvironment.params, projectId: version.projectId, versionId: version.versionId }
    const steps: [string, () => Promise<unknown>][] = [
      [
        'the tag',
        () =>
          testEnvironment.client.call('images.update', {
            params: { ...params, imageId: version.imageIds[0] ?? '' },
            body: { tag: '2.0' },
          }),
      ],
      [
        'the configuration of the image',
        () => patch(version.imageConfigIds[0] ?? '', { environment: [{ key: 'I', value: '1' }] }),
      ],
      [
        'the configuration of the deployment',
        () => patch(details.config.id, { environment: [{ key: 'D', value: '1' }] }),
      ],
      [
        'a secret',
        async () =>
          patch(web.config.id, {
            secrets: [
              { key: 'S', required: false, encrypted: true, publicKey: keyOne, value: await sealFor(keyOne, 'first') },
            ],
          }),
      ],
      [
        'the value of a secret',
        async () =>
          patch(web.config.id, {
            secrets: [
              { key: 'S', required: false, encrypted: true, publicKey: keyOne, value: await sealFor(keyOne, 'second') },
            ],
          }),
      ],
      [
        'a storage',
        () => patch(web.config.id, { storage: { storageId, bucket: 'b', path: '/data' } }, testEnvironment.owner),
      ],
      [
        'the address of the storage',
        () => sql('update crux.storage set url = $2 where id = $1', [storageId, 'https://two.example.com']),
      ],
      [
        'the prefix',
        () =>
          testEnvironment.client.call('deployments.update', {
            params: at(id),
            body: { prefix: 'elsewhere', protected: false },
          }),
      ],
      [
        'the address of the registry',
        () =>
          sql('update crux.registry set url = $2 where id = $1', [
            testEnvironment.registryId,
            'https://other.example.com',
          ]),
      ],
    ]
    const seen = new Set([await toHash(id)])
    for (const [what, change] of steps) {
      await change()
      const hash = await toHash(id)
      expect(seen.has(hash), `${what} changes the hash`).toBe(false)
      seen.add(hash)
    }
    expect(node.id).toBeTruthy()
  })

  it('never confirms a change that was stored in between, even immediately before', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 25; round++) {
      const { id, web } = await prepare()
      const expectedHash = await toHash(id)
      const edited = patch(web.config.id, { environment: [{ key: 'EVIL', value: '1' }] }).catch(() => undefined)
      if (round % 2 === 1) await edited
      const started = await start(id, { expectedHash }).then(
        () => 'started',
        (error: { property?: string }) => error.property ?? 'failed',
      )
      await edited
      outcomes.add(started)
      expect(['started', 'expectedHash']).toContain(started)
      for (const { subject } of await confirmed(id)) expect(JSON.stringify(subject)).not.toContain('EVIL')
      const orders = await sql<{ config: unknown }>(
        `select ri.config from crux.release_instance ri join crux.release r on r.id = ri.release_id where r.deployment_id = $1`,
        [id],
      )
      expect(JSON.stringify(orders)).not.toContain('EVIL')
      expect(orders.length > 0).toBe(started === 'started')
    }
    expect(outcomes).toContain('expectedHash')
  })

  it('is optional: clients that send no hash start the stored configuration', async () => {
    const { id, web } = await prepare()
    await patch(web.config.id, { environment: [{ key: 'A', value: '1' }] })
    await start(id, {})
    const other = await prepare()
    await expect(start(other.id, { expectedHash: 'no hash' })).rejects.toMatchObject({
      status: 400,
      property: 'expectedHash',
    })
  })
})
