import type { ContainerConfigFields } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'

let crux: TestServer
let testEnvironment: DeployTestEnvironment
let serial = 0
beforeAll(async () => {
  crux = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(crux)
})
afterAll(() => crux.stop())

const host: ContainerConfigFields = { volumes: [{ name: '/srv/data', path: '/data', type: 'ro' }] }
const at = (deploymentId: string) => ({ ...testEnvironment.params, deploymentId })
const sql = (text: string, values: unknown[]) => crux.app.database.pool.query(text, values)

async function apiToken(of: Someone): Promise<Someone> {
  const body = { name: `Script ${++serial}`, scope: 'full' as const, expirationInDays: 30 }
  return { ...of, token: (await crux.client(of).call('tokens.create', { body })).token }
}

async function serviceAccount(role: 'admin' | 'user'): Promise<Someone> {
  const { call } = testEnvironment.client
  const { id } = await call('service-accounts.create', {
    params: testEnvironment.params,
    body: { name: `Robot ${++serial}`, role },
  })
  const made = await call('service-accounts.create-token', {
    params: { ...testEnvironment.params, serviceAccountId: id },
    body: { name: `CI ${serial}`, scope: 'deploy', expirationInDays: 30 },
  })
  return { ...testEnvironment.owner, token: made.token }
}

async function deploymentToken(deploymentId: string, of: Someone): Promise<Someone> {
  const body = { name: `Pipeline ${++serial}` }
  const made = await crux.client(of).call('deployments.create-token', { params: at(deploymentId), body })
  return { ...of, token: made.token }
}

/** A deployment with one dangerous image, or with these, whose starts succeed. */
async function makeDeployment(images?: { name: string; tag?: string; config?: ContainerConfigFields }[]) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const version = await testEnvironment.version({ type: 'rolling', images: images ?? [{ name: 'web', config: host }] })
  const { id } = await testEnvironment.deployment(version, node.id)
  let starts = 0
  /** The agent completes the last start. */
  const finish = async () => {
    const release = await deployWell(agent, ++starts)
    await testEnvironment.waitForStatus(id, 'successful')
    return release
  }
  const start = async (as: Someone, instances?: string[]) => {
    await crux.client(as).call('deployments.start', { params: at(id), query: {}, body: { instances } })
    return finish()
  }
  const details = await testEnvironment.get(id)
  return { id, version, node, start, finish, details, configId: details.instances[0]?.config.id ?? '' }
}

const patch = (configId: string, config: object, as: Someone = testEnvironment.owner) =>
  crux
    .client(as)
    .call('container-configurations.update', { params: { ...testEnvironment.params, configId }, body: { config } })
const preview = (deploymentId: string, as: Someone = testEnvironment.owner) =>
  crux.client(as).call('deployments.preview', { params: at(deploymentId) })
/** Why a token may not start it, "" if it may. */
const objection = async (deploymentId: string, as: Someone) =>
  (await preview(deploymentId, as)).problems.find(({ error }) => error === 'hostDangerous')?.description ?? ''
const refused = { status: 403, property: 'instances[0].config.volumes[0].name' }

describe('a host-dangerous deployment', () => {
  it('cannot be started by a token until an admin started it in a session, and then by every kind of token', async () => {
    const { id, start } = await makeDeployment()
    const user = await crux.addMember(testEnvironment.team, 'user')
    const tokens = [
      await apiToken(testEnvironment.owner),
      await serviceAccount('admin'),
      await serviceAccount('user'),
      await deploymentToken(id, await crux.addMember(testEnvironment.team, 'admin')),
    ]
    for (const token of tokens)
      await expect(start(token)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining(
          'Nobody has confirmed web as it is configured now. An admin of the team must start it once, signed in, before a token can.',
        ),
      })
    await expect(start(user)).rejects.toMatchObject(refused)
    expect((await start(testEnvironment.owner)).hostDangerousAllowed).toBe(true)
    for (const token of tokens) expect((await start(token)).hostDangerousAllowed).toBe(true)
    await expect(start(user)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('Only an admin of the team may deploy it.'),
    })
  })

  it('shows its confirmation with name and time in its log and in the preview, and a harmless one shows none', async () => {
    const { id, start, details } = await makeDeployment()
    expect((await preview(id)).hostDangerous).toEqual([
      {
        instanceId: details.instances[0]?.id,
        containerName: 'web',
        dangers: [{ property: 'volumes[0].name', value: '/srv/data', description: expect.any(String) }],
        confirmed: false,
        changes: [],
      },
    ])
    await start(testEnvironment.owner)
    const [confirmed] = (await preview(id)).hostDangerous ?? []
    expect(confirmed).toMatchObject({
      confirmed: true,
      confirmation: { by: { id: testEnvironment.owner.id, name: 'Ada' } },
      changes: [],
    })
    expect(Math.abs(Date.parse(confirmed?.confirmation?.at ?? '') - Date.now())).toBeLessThan(600_000)
    const lines = (await testEnvironment.events(id)).flatMap((event) => event.log?.log ?? [])
    expect(lines).toContain('Ada confirmed what reaches the node in web: volumes[0].name /srv/data')

    const harmless = await makeDeployment([{ name: 'web' }])
    await harmless.start(await apiToken(testEnvironment.owner))
    expect((await preview(harmless.id)).hostDangerous).toBeUndefined()
  })

  it('is recorded in the audit log with the confirmed dangers', async () => {
    const { id, start } = await makeDeployment()
    await start(testEnvironment.owner)
    const { rows } = await sql(
      `select data -> 'confirmed' as confirmed, actor_name as name from crux.audit_log
        where event = 'deployment-start deployments.start' and data -> 'params' ->> 'deploymentId' = $1`,
      [id],
    )
    expect(rows).toEqual([
      { name: 'Ada', confirmed: [{ containerName: 'web', dangers: ['volumes[0].name /srv/data'] }] },
    ])
  })

  it("lets no user make an approved path writable, and refuses an admin's token after its command has changed", async () => {
    const { id, start, configId, version } = await makeDeployment()
    const user = await crux.addMember(testEnvironment.team, 'user')
    const pipeline = await deploymentToken(id, testEnvironment.owner)
    await start(testEnvironment.owner)
    const writable = { volumes: [{ ...host.volumes?.[0], type: 'rwo' }] }
    for (const layer of [version.imageConfigIds[0] ?? '', configId])
      await expect(patch(layer, writable, user)).rejects.toMatchObject({
        status: 403,
        property: 'config.volumes[0].name',
      })
    await patch(configId, { args: [{ key: 'touch' }, { key: '/data/PWNED' }] }, user)
    await expect(start(pipeline)).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/web changed since Ada confirmed it on \d{4}-\d\d-\d\d: args\. An admin/),
    })
    expect((await preview(id)).hostDangerous).toMatchObject([
      {
        confirmed: false,
        confirmation: { by: { name: 'Ada' } },
        changes: [{ property: 'args', to: 'touch /data/PWNED' }],
      },
    ])
    await patch(configId, { args: null }, user)
    await start(pipeline)
  })
})

describe('the confirmation of a deployment', () => {
  type Fixture = Awaited<ReturnType<typeof makeDeployment>> & {
    bundleId: string
    bundleConfigId: string
    storageId: string
  }
  const rich: ContainerConfigFields = {
    ...host,
    environment: [
      { key: 'A', value: '{{versionName}}' },
      { key: 'B', value: '2' },
    ],
    initContainers: [{ name: 'init', image: 'busybox:1', useParentConfig: false }],
    secrets: [{ key: 'PASS', required: true }],
  }
  let fixture: Fixture
  let token: Someone
  beforeAll(async () => {
    token = await apiToken(testEnvironment.owner)
    const { call } = testEnvironment.client
    const bundle = await call('config-bundles.create', { params: testEnvironment.params, body: { name: 'Shared' } })
    const storage = await call('storages.create', {
      params: testEnvironment.params,
      body: { name: 'Files', url: 'http://127.0.0.1:9', public: true },
    })
    const config = { ...rich, storage: { storageId: storage.id, bucket: 'assets', path: 'files' } }
    config.volumes = [...(host.volumes ?? []), { name: 'files', path: '/files' }]
    const made = await makeDeployment([{ name: 'web', config }])
    await call('deployments.update', {
      params: at(made.id),
      body: { prefix: made.details.prefix, protected: false, configBundles: [bundle.id] },
    })
    await patch(made.configId, { secrets: [{ key: 'PASS', required: true, value: await sealFor(keyOne, 'one') }] })
    await made.start(testEnvironment.owner)
    fixture = { ...made, bundleId: bundle.id, bundleConfigId: bundle.configId, storageId: storage.id }
  })

  const fields = (id: string, change: object) =>
    sql('update crux.container_config set fields = fields || $2::jsonb where id = $1', [id, JSON.stringify(change)])
  const layer = (which: (of: Fixture) => string | undefined, change: object) => async () => {
    await fields(which(fixture) ?? '', change)
  }
  const instanceLayer = (of: Fixture) => of.configId
  const imageLayer = (of: Fixture) => of.version.imageConfigIds[0]
  it.each<[what: string, change: () => Promise<unknown>, named: string]>([
    ['the command of the instance', layer(instanceLayer, { commands: [{ key: 'sh' }] }), 'commands'],
    ['the user in the layer of the image', layer(imageLayer, { user: 0 }), 'user'],
    [
      'a variable of the deployment',
      layer((of) => of.details.config.id, { environment: [{ key: 'C', value: '3' }] }),
      'environment.C',
    ],
    [
      'a variable of a bundle',
      layer((of) => of.bundleConfigId, { environment: [{ key: 'D', value: '4' }] }),
      'environment.D',
    ],
    [
      'the image of an init container',
      layer(imageLayer, { initContainers: [{ name: 'init', image: 'busybox:2', useParentConfig: false }] }),
      'initContainers',
    ],
    [
      'a config container',
      layer(instanceLayer, { configContainer: { image: 'c:1', volume: 'files', path: '/', keepFiles: true } }),
      'configContainer',
    ],
    [
      'the bucket of the import',
      async () =>
        fields(imageLayer(fixture) ?? '', {
          storage: { storageId: fixture.storageId, bucket: 'other', path: 'files' },
        }),
      'storage',
    ],
    [
      'the address of the storage',
      () => sql(`update crux.storage set url = 'http://127.0.0.1:10' where id = $1`, [fixture.storageId]),
      'storage',
    ],
    [
      'the value of a secret',
      async () =>
        fields(fixture.configId, {
          secrets: [
            { key: 'PASS', required: true, encrypted: true, publicKey: keyOne, value: await sealFor(keyOne, 'two') },
          ],
        }),
      'secrets.PASS',
    ],
    [
      'a secret that is taken away',
      layer(instanceLayer, { secrets: [{ key: 'OTHER', required: false }] }),
      'secrets.PASS',
    ],
    [
      'the tag of the image',
      () => sql(`update crux.image set tag = '2.0' where id = $1`, [fixture.version.imageIds[0]]),
      'tag',
    ],
    [
      'the name of the image',
      () => sql(`update crux.image set name = 'evil' where id = $1`, [fixture.version.imageIds[0]]),
      'image',
    ],
    [
      'the address of the registry',
      () =>
        sql(`update crux.registry set url = 'https://evil.example.com' where id = $1`, [testEnvironment.registryId]),
      'image',
    ],
    [
      'another registry of the same address',
      async () =>
        sql('update crux.image set registry_id = $2 where id = $1', [
          fixture.version.imageIds[0],
          await testEnvironment.registry(),
        ]),
      'registry',
    ],
    [
      'the name of the version where a variable holds it',
      () => sql(`update crux.version set name = '6.6.6' where id = $1`, [fixture.version.versionId]),
      'environment.A',
    ],
    ['the prefix', () => sql(`update crux.deployment set prefix = 'elsewhere' where id = $1`, [fixture.id]), 'prefix'],
  ])('ends with a change: %s', async (_, change, named) => {
    const tables = ['container_config', 'storage', 'image', 'registry', 'version', 'deployment']
    expect(await objection(fixture.id, token)).toBe('')
    const before = await Promise.all(tables.map((table) => sql(`select * from crux.${table}`, [])))
    await change()
    const text = await objection(fixture.id, token)
    // The original content again: the same hash is confirmed.
    for (const [index, table] of tables.entries())
      for (const row of before[index]?.rows ?? []) await restore(table, row)
    // A container without a configured name has the name of its image.
    expect(text).toMatch(new RegExp(`(web|evil) changed since Ada confirmed it on [^:]*: .*\\b${named}\\b`))
    expect(await objection(fixture.id, token)).toBe('')
  })

  async function restore(table: string, row: Record<string, unknown>) {
    const columns: Record<string, string[]> = {
      container_config: ['fields'],
      storage: ['url'],
      image: ['tag', 'name', 'registry_id'],
      registry: ['url'],
      version: ['name'],
      deployment: ['prefix'],
    }
    for (const column of columns[table] ?? []) {
      const stored = row[column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())]
      const value = column === 'fields' ? JSON.stringify(stored) : stored
      await sql(`update crux.${table} set ${column} = $2 where id = $1 and ${column} is distinct from $2`, [
        row.id,
        value,
      ])
    }
  }

  it('is not ended by row ids, the order of keys and rows, or settings of no container', async () => {
    const reordered = [
      { value: '2', id: '0199f0e0-0000-7000-8000-000000000009', key: 'B' },
      { value: '{{versionName}}', key: 'A' },
    ]
    await fields(imageLayer(fixture) ?? '', { environment: reordered, tty: null })
    await testEnvironment.client.call('deployments.update', {
      params: at(fixture.id),
      body: { prefix: fixture.details.prefix, protected: false, note: 'A note' },
    })
    expect(await objection(fixture.id, token)).toBe('')
  })
})

describe('a start of some instances', () => {
  it('confirms those, and a token starts exactly them', async () => {
    const images = [{ name: 'web', config: host }, { name: 'api', config: host }, { name: 'plain' }]
    const { start, details } = await makeDeployment(images)
    const [web = '', api = '', plain = ''] = details.instances.map(({ id }) => id)
    const token = await apiToken(testEnvironment.owner)
    await start(testEnvironment.owner, [web])
    await start(token, [web])
    await start(token, [web, plain])
    await expect(start(token, [api])).rejects.toMatchObject({ status: 403 })
    await expect(start(token)).rejects.toMatchObject({ status: 403, property: 'instances[1].config.volumes[0].name' })
    await start(testEnvironment.owner, [api])
    await start(token)
  })
})

describe('a rollback to an earlier release', () => {
  const rollBack = (id: string, number: number, as: Someone) =>
    crux.client(as).call('deployments.start-release', { params: { ...at(id), number }, query: {} })

  it('is checked by the configuration of that release', async () => {
    const { id, start, finish, configId } = await makeDeployment()
    const [token, user] = [await apiToken(testEnvironment.owner), await crux.addMember(testEnvironment.team, 'user')]
    await start(testEnvironment.owner)
    await rollBack(id, 1, token)
    await finish()
    await patch(configId, { args: [{ key: 'next' }] })
    await start(testEnvironment.owner)
    await expect(rollBack(id, 1, user)).rejects.toMatchObject(refused)
    await expect(rollBack(id, 1, token)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('args'),
    })
    const { problems } = await crux
      .client(token)
      .call('deployments.preview-release', { params: { ...at(id), number: 1 } })
    expect(problems.map(({ error }) => error)).toEqual(['hostDangerous'])
  })

  it('restores no dangerous configuration by a token once an admin has started without it', async () => {
    const { id, start, version } = await makeDeployment()
    await start(testEnvironment.owner)
    await patch(version.imageConfigIds[0] ?? '', { volumes: null })
    await start(testEnvironment.owner)
    await expect(rollBack(id, 1, await apiToken(testEnvironment.owner))).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('Nobody has confirmed web as it is configured now'),
    })
  })
})
