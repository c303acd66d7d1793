import type { ContainerConfigField, ContainerConfigFields, ContainerConfigPatch } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, getTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'
import { revisionsMax } from './revision-store.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let other: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  const owner = server.signUp('Grace')
  other = await getTestEnvironment(server, owner, await server.createTeam(owner))
})
afterAll(() => server.stop())

const rows = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => ({ key, value }))
const plain = (environment: { key: string; value: string | null }[] | null | undefined) =>
  Object.fromEntries((environment ?? []).map(({ key, value }) => [key, value]))
const at = (configId: string) => ({ ...testEnvironment.params, configId })
const get = (configId: string) => testEnvironment.client.call('container-configurations.get', { params: at(configId) })
const patch = (configId: string, body: ContainerConfigPatch, client = testEnvironment.client) =>
  client.call('container-configurations.update', { params: at(configId), body })
const history = (configId: string, page = { skip: 0, take: 50 }) =>
  testEnvironment.client.call('container-configurations.history', { params: at(configId), query: page })
const getRevision = (configId: string, revision: number) =>
  testEnvironment.client.call('container-configurations.get-revision', { params: { ...at(configId), revision } })
const restore = (configId: string, revision: number, seen?: number, client = testEnvironment.client) =>
  client.call('container-configurations.restore', {
    params: { ...at(configId), revision },
    body: seen === undefined ? {} : { revision: seen },
  })
const copy = (
  configId: string,
  body: { fromConfigId: string; fields?: ContainerConfigField[]; revision?: number },
  client = testEnvironment.client,
) => client.call('container-configurations.copy', { params: at(configId), body })
const makeConfig = async (config: ContainerConfigFields = {}) =>
  (await testEnvironment.version({ images: [{ name: 'web', config }] })).imageConfigIds[0] ?? ''
const sealed = { value: await sealFor(keyOne, 'hidden'), encrypted: true, publicKey: keyOne }

describe('the history of a configuration', () => {
  it('shows the author of each change, newest first, down to the state before the first change', async () => {
    const configId = await makeConfig({ tty: true })
    const member = await server.addMember(testEnvironment.team, 'user', 'Eve Smith')
    await patch(configId, { config: { environment: rows({ A: '1' }) } })
    await patch(configId, { config: { environment: rows({ A: '2', B: '1' }), tty: null } }, server.client(member))
    const { items, total } = await history(configId)
    expect(total).toBe(3)
    expect(items).toMatchObject([
      { revision: 3, updatedBy: { id: member.id, name: 'Eve Smith' } },
      { revision: 2, changed: ['environment.A'], updatedBy: { id: testEnvironment.owner.id, name: 'Ada' } },
      { revision: 1, changed: [], updatedBy: null },
    ])
    expect([...(items[0]?.changed ?? [])].sort()).toEqual(['environment.A', 'environment.B', 'tty'])
    expect((await history(configId, { skip: 1, take: 1 })).items).toEqual([items[1]])
    expect((await getRevision(configId, 1)).config).toEqual({ tty: true })
    expect(plain((await getRevision(configId, 2)).config.environment)).toEqual({ A: '1' })
    await expect(getRevision(configId, 9)).rejects.toMatchObject({ status: 404, property: 'revision' })
  })

  it('keeps the last changes, without values of secrets', async () => {
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version(),
      (await testEnvironment.node()).id,
    )
    const { id: configId } = (await testEnvironment.get(deployment.id)).config
    await patch(configId, { config: { secrets: [{ key: 'TOKEN', required: true, ...sealed }] } })
    const { pool } = server.app.database
    await pool.query(
      `insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by)
       select $1, n, '{}', '{}', 'someone' from generate_series(3, $2::int + 1) n`,
      [configId, revisionsMax],
    )
    await pool.query('update crux.container_config set revision = $2 where id = $1', [configId, revisionsMax + 1])
    await patch(configId, { config: { tty: true } })
    const kept = await history(configId, { skip: 0, take: 1_000 })
    expect([kept.total, kept.items.at(0)?.revision, kept.items.at(-1)?.revision]).toEqual([
      revisionsMax,
      revisionsMax + 2,
      3,
    ])
    expect((await getRevision(configId, revisionsMax + 2)).config.secrets).toEqual([
      { id: expect.any(String), key: 'TOKEN', required: true },
    ])
    const { rowCount } = await pool.query(
      `select from crux.container_config_revision where fields::text like '%PGP MESSAGE%'`,
    )
    expect(rowCount).toBe(0)
  })

  it('restores an earlier state as a new change that is in the history itself, and keeps secrets unchanged', async () => {
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version(),
      (await testEnvironment.node()).id,
    )
    const { id: configId } = (await testEnvironment.get(deployment.id)).config
    const labels = { deployment: rows({ a: '1' }), service: rows({ b: '1' }) }
    await patch(configId, { config: { environment: rows({ A: '1' }), labels, args: [] } })
    const earlier = await get(configId)
    await patch(configId, {
      config: { environment: rows({ B: '2' }), labels: { service: null }, tty: true, args: null },
    })
    await patch(configId, { config: { secrets: [{ key: 'TOKEN', required: true, ...sealed }] } })
    await restore(configId, 2)
    const now = await get(configId)
    expect(now).toMatchObject({
      revision: 5,
      environment: earlier.environment,
      args: [],
      secrets: [{ key: 'TOKEN', value: sealed.value }],
    })
    expect(now.labels?.service).toEqual(earlier.labels?.service)
    expect(now.tty).toBeUndefined()
    await restore(configId, 4)
    expect(plain((await get(configId)).environment)).toEqual({ B: '2' })
    await restore(configId, 4)
    expect((await history(configId)).total).toBe(6)
  })

  it('is restored under the rules of every change: conflicts, dangers, storages, and immutable layers', async () => {
    const configId = await makeConfig()
    const member = server.client(await server.addMember(testEnvironment.team, 'user'))
    await patch(configId, { config: { environment: rows({ A: '1' }), networkMode: 'host' } })
    await patch(configId, { config: { environment: rows({ A: '2' }), networkMode: null } })
    await expect(restore(configId, 2, 2)).rejects.toMatchObject({ status: 409, error: 'patchConflict' })
    await expect(restore(configId, 2, undefined, member)).rejects.toMatchObject({
      status: 403,
      property: 'config.networkMode',
    })
    await restore(configId, 2, 3)
    expect(await get(configId)).toMatchObject({ networkMode: 'host', revision: 4 })

    const storage = await testEnvironment.client.call('storages.create', {
      params: testEnvironment.params,
      body: { name: 'Short-lived', url: 's3.example.com', public: true },
    })
    const importing = {
      volumes: [{ name: 'v', path: '/v' }],
      storage: { storageId: storage.id, bucket: 'b', path: 'v' },
    }
    await patch(configId, { config: importing })
    await patch(configId, { config: { storage: null } })
    await testEnvironment.client.call('storages.delete', {
      params: { ...testEnvironment.params, storageId: storage.id },
    })
    await expect(restore(configId, 5)).rejects.toMatchObject({ status: 400, property: 'config.storage.storageId' })
  })
})

describe('settings of another configuration', () => {
  it('are copied unchanged: all that are set, or those that are named', async () => {
    const source = await makeConfig({
      environment: rows({ A: '1' }),
      labels: { service: rows({ team: 'shop' }) },
      tty: true,
      secrets: [{ key: 'NEW', required: true }],
    })
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version(),
      (await testEnvironment.node()).id,
    )
    const { id: target } = (await testEnvironment.get(deployment.id)).config
    const own = { key: 'OWN', required: false, ...sealed }
    await patch(target, {
      config: { user: 7, environment: rows({ B: '2' }), labels: { ingress: rows({ x: '1' }) }, secrets: [own] },
    })
    await copy(target, { fromConfigId: source })
    const all = await get(target)
    expect(all).toMatchObject({ user: 7, tty: true, secrets: [own, { key: 'NEW', required: true }] })
    expect(all.secrets?.[1]?.value).toBeUndefined()
    expect(plain(all.environment)).toEqual({ A: '1' })
    expect(all.labels?.ingress ?? null).toBeNull()
    expect(plain(all.labels?.service)).toEqual({ team: 'shop' })

    await patch(target, { config: { environment: rows({ C: '3' }) } })
    await copy(target, { fromConfigId: source, fields: ['tty', 'user'] })
    const named = await get(target)
    expect([plain(named.environment), named.tty, named.user ?? null]).toEqual([{ C: '3' }, true, null])
  })

  it('come from the same team, under the rules of every change', async () => {
    const [theirs = ''] = (await other.version({ images: [{ name: 'db', config: { tty: true } }] })).imageConfigIds
    const source = await makeConfig({ networkMode: 'host', tty: true })
    const target = await makeConfig()
    await expect(copy(target, { fromConfigId: theirs })).rejects.toMatchObject({
      status: 404,
      property: 'fromConfigId',
    })
    const member = server.client(await server.addMember(testEnvironment.team, 'user'))
    await expect(copy(target, { fromConfigId: source }, member)).rejects.toMatchObject({ status: 403 })
    await copy(target, { fromConfigId: source, fields: ['tty'] }, member)
    await patch(target, { config: { tty: false } })
    await expect(copy(target, { fromConfigId: source, revision: 2 })).rejects.toMatchObject({ error: 'patchConflict' })
  })

  it('are selected from bundles, deployments, images and instances of the team, by name and kind', async () => {
    const owner = server.signUp('Chooser')
    const team = await getTestEnvironment(server, owner, await server.createTeam(owner))
    const project = await team.project('shop')
    const version = await team.version({ projectId: project, name: '1.2.0', images: [{ name: 'web' }, { name: 'db' }] })
    const node = await team.node('machine')
    await team.deployment(version, node.id, 'prod')
    await team.client.call('config-bundles.create', { params: team.params, body: { name: 'Telemetry' } })
    const list = async (query: object) => {
      const page = await team.client.call('container-configurations.list', {
        params: team.params,
        query: { skip: 0, take: 50, ...query },
      })
      return [page.total, ...page.items.map(({ type, name, place }) => `${type}: ${name}, ${place}`)]
    }
    expect(await list({})).toEqual([
      6,
      'config-bundle: Telemetry, config bundle',
      'deployment: prod, on machine, shop 1.2.0',
      'image: web, shop 1.2.0',
      'image: db, shop 1.2.0',
      'instance: web, prod on machine, shop 1.2.0',
      'instance: db, prod on machine, shop 1.2.0',
    ])
    expect(await list({ skip: 1, take: 2 })).toEqual([
      6,
      'deployment: prod, on machine, shop 1.2.0',
      'image: web, shop 1.2.0',
    ])
    expect(await list({ filter: 'DB' })).toEqual([
      2,
      'image: db, shop 1.2.0',
      'instance: db, prod on machine, shop 1.2.0',
    ])
    expect(await list({ type: 'config-bundle' })).toEqual([1, 'config-bundle: Telemetry, config bundle'])
    expect(await list({ filter: '%' })).toEqual([0])
  })
})
