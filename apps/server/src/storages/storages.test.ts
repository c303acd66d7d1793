import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Release } from '@crux/agent-protocol'
import type { Body } from '@crux/contract'
import { freePort, startStorage, storageAccount, storageMissing, type TestStorage } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  getTestEnvironment,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

const missing = storageMissing()
let s3: TestStorage | undefined
let server: TestServer
let testEnvironment: DeployTestEnvironment
let other: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  const owner = server.signUp('Grace')
  other = await getTestEnvironment(server, owner, await server.createTeam(owner))
  if (!missing) s3 = await startStorage()
}, 600_000)
afterAll(async () => {
  await s3?.dispose()
  await server.stop()
})

let serial = 0
type Write = Body<'storages.create'>
const keys = { accessKey: 'AKIAEXAMPLE', secretKey: 'very secret key' }
const create = (write: Partial<Write> = {}, at = testEnvironment) =>
  at.client.call('storages.create', {
    params: at.params,
    body: { name: `Storage ${++serial}`, url: 's3.example.com', public: false, ...keys, ...write },
  })
const at = (storageId: string) => ({ ...testEnvironment.params, storageId })
const get = (storageId: string) => testEnvironment.client.call('storages.get', { params: at(storageId) })
const update = (storageId: string, body: Partial<Write>) =>
  testEnvironment.client.call('storages.update', {
    params: at(storageId),
    body: { name: `Storage ${++serial}`, url: 's3.example.com', public: false, ...body },
  })
const remove = (storageId: string) => testEnvironment.client.call('storages.delete', { params: at(storageId) })
const check = (storageId: string) => testEnvironment.client.call('storages.check', { params: at(storageId) })
const importing = (storageId: string) => ({
  volumes: [{ name: 'files', path: '/files', type: 'rwo' as const }],
  storage: { storageId, bucket: 'assets', path: 'files' },
})

describe('a storage', () => {
  it('is created, listed, offered, updated and deleted', async () => {
    const made = await create({ name: 'Assets', description: 'Pictures', icon: 'seal' })
    expect(made).toMatchObject({ url: 'https://s3.example.com', public: false, inUse: false, icon: 'seal' })
    const face = { id: made.id, name: 'Assets', description: 'Pictures', icon: 'seal', url: 'https://s3.example.com' }
    expect(await testEnvironment.client.call('storages.list', { params: testEnvironment.params })).toContainEqual(face)
    expect(await testEnvironment.client.call('storages.options', { params: testEnvironment.params })).toContainEqual({
      id: made.id,
      name: 'Assets',
    })
    await expect(create({ name: 'Assets' })).rejects.toMatchObject({ status: 409, property: 'name' })
    await update(made.id, { name: 'Files', public: true })
    expect(await get(made.id)).toMatchObject({ name: 'Files', public: true, description: null })
    await remove(made.id)
    await expect(get(made.id)).rejects.toMatchObject({ status: 404 })
  })

  it.each([
    [{ url: 'ftp://files' }, 'url'],
    [{ url: 'https://key:secret@s3.example.com' }, 'url'],
    [{ accessKey: null }, 'accessKey'],
    [{ secretKey: undefined }, 'secretKey'],
  ])('with %j is refused', async (write, property) => {
    await expect(create(write)).rejects.toMatchObject({ status: 400, property })
  })

  it('stores its keys encrypted, never returns them, and uses them only for their own address', async () => {
    const made = await create()
    const stored = async () =>
      (
        await server.app.database.pool.query<{ a: string | null; s: string | null }>(
          'select access_key as a, secret_key as s from crux.storage where id = $1',
          [made.id],
        )
      ).rows[0]
    const first = await stored()
    const open = (sealed: Awaited<ReturnType<typeof stored>>) => [
      server.app.cipher.decrypt(sealed?.a ?? '', { column: 'storage.access_key', row: made.id }),
      server.app.cipher.decrypt(sealed?.s ?? '', { column: 'storage.secret_key', row: made.id }),
    ]
    expect(open(first)).toEqual(Object.values(keys))
    await update(made.id, { description: 'Other words' })
    expect(await stored()).toEqual(first)
    await expect(update(made.id, { url: 'https://elsewhere.example.com' })).rejects.toMatchObject({
      status: 400,
      property: 'accessKey',
    })
    await expect(update(made.id, { accessKey: 'only one' })).rejects.toMatchObject({ property: 'secretKey' })
    await update(made.id, { url: 'https://elsewhere.example.com', accessKey: 'new', secretKey: 'pair' })
    expect(open(await stored())).toEqual(['new', 'pair'])
    await update(made.id, { url: 'https://elsewhere.example.com', public: true })
    expect(await stored()).toEqual({ a: null, s: null })
    const answers = [
      made,
      await get(made.id),
      await testEnvironment.client.call('storages.list', { params: testEnvironment.params }),
    ]
    const audit = await server.app.database.pool.query('select * from crux.audit_log where team_id = $1', [
      testEnvironment.team.id,
    ])
    for (const secret of [...Object.values(keys), 'pair'])
      expect(JSON.stringify([answers, audit.rows])).not.toContain(secret)
  })

  it('is not deleted while a configuration imports from it, nor usable by another team', async () => {
    const [mine, theirs] = [await create(), await create({}, other)]
    const [configId = ''] = (await testEnvironment.version()).imageConfigIds
    const patch = (storageId: string | null) =>
      testEnvironment.client.call('container-configurations.update', {
        params: { ...testEnvironment.params, configId },
        body: { config: storageId ? importing(storageId) : { storage: null } },
      })
    for (const id of [theirs.id, '01890000-0000-7000-8000-000000000000'])
      await expect(patch(id)).rejects.toMatchObject({ status: 400, property: 'config.storage.storageId', value: id })
    await patch(mine.id)
    expect((await get(mine.id)).inUse).toBe(true)
    await expect(remove(mine.id)).rejects.toMatchObject({ status: 412, property: 'id' })
    await patch(null)
    expect((await get(mine.id)).inUse).toBe(false)
    await remove(mine.id)
    for (const call of [get, remove, (id: string) => update(id, keys), check])
      await expect(call(theirs.id)).rejects.toMatchObject({ status: 404 })
  })

  it('is deleted with its team, also while configurations import from it', async () => {
    const owner = server.signUp('Leaving')
    const team = await getTestEnvironment(server, owner, await server.createTeam(owner))
    const storage = await create({}, team)
    const bundle = await team.client.call('config-bundles.create', { params: team.params, body: { name: 'Uses it' } })
    await team.client.call('config-bundles.update', {
      params: { ...team.params, configBundleId: bundle.id },
      body: { config: importing(storage.id) },
    })
    await team.client.call('teams.delete', { params: { teamId: team.team.id } })
    expect(
      (await server.app.database.pool.query('select from crux.storage where id = $1', [storage.id])).rowCount,
    ).toBe(0)
  })
})

describe('an import at the start', () => {
  it('gives the agent the current keys, at a rollback too, and is refused once the storage is deleted', async () => {
    const storage = await create()
    const node = await testEnvironment.node()
    const version = await testEnvironment.version({ images: [{ name: 'web', config: importing(storage.id) }] })
    const deployment = await testEnvironment.deployment(version, node.id)
    const agent = await testEnvironment.agent(node)
    const received = (release: Release) => ({ ...release.instances[0]?.storage, $typeName: undefined })
    await testEnvironment.start(deployment.id)
    const first = await deployWell(agent)
    expect(received(first)).toMatchObject({ url: 'https://s3.example.com', ...keys })
    expect(first.instances[0]?.configJson).not.toContain(keys.secretKey)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    await update(storage.id, { accessKey: 'new', secretKey: 'pair' })
    const back = () =>
      testEnvironment.client.call('deployments.start-release', {
        params: { ...testEnvironment.params, deploymentId: deployment.id, number: 1 },
        query: {},
      })
    await back()
    const { value } = await agent.command('deploy', 2)
    expect(received(value as Release)).toMatchObject({ accessKey: 'new', secretKey: 'pair' })
    await agent.client.reportDeployment({ release: (value as Release).key, events: journal(badNews('no')) })
    await testEnvironment.waitForStatus(deployment.id, 'failed')
    await testEnvironment.client.call('container-configurations.update', {
      params: { ...testEnvironment.params, configId: version.imageConfigIds[0] ?? '' },
      body: { config: { storage: null } },
    })
    await remove(storage.id)
    await expect(back()).rejects.toMatchObject({
      status: 412,
      property: 'instances',
      description: expect.stringContaining('was deleted'),
    })
    const events = JSON.stringify(await testEnvironment.events(deployment.id))
    expect(events).not.toContain('pair')
    agent.cut()
  })
})

describe.skipIf(missing)(`a check of a real S3 server${missing ? ` (${missing})` : ''}`, () => {
  it('lists buckets with the right keys, and reports which key is wrong', async () => {
    const url = s3?.url ?? ''
    await s3?.createBucket('pictures')
    await s3?.createBucket('texts')
    expect(await check((await create({ url, ...storageAccount })).id)).toEqual({
      reachable: true,
      buckets: ['pictures', 'texts'],
    })
    const refused = async (write: Partial<Write>) => check((await create({ url, ...write })).id)
    expect(await refused({ ...storageAccount, accessKey: 'nobody' })).toEqual({
      reachable: false,
      reason: 'The storage does not know this access key.',
    })
    expect(await refused({ ...storageAccount, secretKey: 'wrong' })).toEqual({
      reachable: false,
      reason: 'The secret key does not fit the access key.',
    })
    expect(await refused({ public: true })).toEqual({ reachable: true })
  })
})

const xml = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>${inner}`
const error = (code: string, message = '') => xml(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`)
const buckets = (...names: string[]) =>
  `<ListAllMyBucketsResult><Buckets>${names.map((name) => `<Bucket><Name>${name}</Name></Bucket>`).join('')}</Buckets></ListAllMyBucketsResult>`

describe('a check of a storage', () => {
  let fake: Server
  let answer: { status: number; body: string; headers?: Record<string, string> }
  let asked: IncomingMessage[]
  const url = () => `http://127.0.0.1:${(fake.address() as AddressInfo).port}`
  beforeAll(async () => {
    fake = createServer((request, response) => {
      asked.push(request)
      const region = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '')?.[1]
      const wrong = answer.status === 400 && region === 'eu-central-9'
      response.writeHead(wrong ? 200 : answer.status, answer.headers)
      response.end(wrong ? xml(buckets('far-away')) : answer.body)
    })
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => fake.close())
  const ask = async (given: typeof answer, path = '') => {
    answer = given
    asked = []
    return check((await create({ url: `${url()}${path}` })).id)
  }

  it('signs again for the region that the server names, and requests below the path of the address', async () => {
    const malformed = xml('<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-9</Region></Error>')
    expect(await ask({ status: 400, body: malformed }, '/s3')).toEqual({ reachable: true, buckets: ['far-away'] })
    expect(asked.map((request) => request.url)).toEqual(['/s3/', '/s3/'])
    expect(JSON.stringify(asked.map((request) => request.headers))).not.toContain(keys.secretKey)
  })

  it.each([
    ['no right to list', { status: 403, body: error('AccessDenied') }, true, /may not list/],
    ['another time', { status: 403, body: error('RequestTimeTooSkewed') }, false, /clocks/],
    ['anything else of S3', { status: 503, body: error('SlowDown', 'internal 10.0.0.7') }, false, /SlowDown/],
    ['a page', { status: 200, body: '<html>secret page</html>' }, false, /not answer as an S3 server \(200\)/],
    [
      'another place',
      { status: 301, body: '', headers: { location: 'http://169.254.169.254/' } },
      false,
      /redirects to another address/,
    ],
    ['far too much', { status: 200, body: 'x'.repeat(3_000_000) }, false, /more than/],
  ])("explains a refusal (%s) without repeating the server's text", async (_, given, reachable, reason) => {
    const said = await ask(given)
    expect(said).toMatchObject({ reachable, reason: expect.stringMatching(reason) })
    expect(JSON.stringify(said)).not.toMatch(/secret page|10\.0\.0\.7/)
    expect(asked).toHaveLength(1)
  })

  it('decodes the names of buckets from XML', async () => {
    expect(await ask({ status: 200, body: xml(buckets('a', 'b&amp;c')) })).toEqual({
      reachable: true,
      buckets: ['a', 'b&c'],
    })
  })

  it('never sends requests to metadata addresses or our own ports, and reports a missing answer', async () => {
    const said = async (address: string) => (await check((await create({ url: address })).id)).reason
    expect(await said('http://169.254.169.254')).toMatch(/not an address that may be contacted/)
    expect(await said(server.url)).toMatch(/not an address that may be contacted/)
    expect(await said(`http://127.0.0.1:${await freePort()}`)).toMatch(/cannot be reached/)
  })
})
