import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { deployment, nodeInstall, project, version } from '../db/schema/index.ts'

let server: TestServer
let dataDir: string
let admin: Someone
let team: TestTeam
const agents: ScriptedAgent[] = []

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'crux-nodes-'))
  server = await startTestServer({ config: { dataDir, agentImagePath: join(dataDir, 'agent-image.tar') } })
})
afterAll(async () => {
  for (const agent of agents) agent.cut()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
beforeEach(async () => {
  admin = server.signUp()
  team = await server.createTeam(admin)
})

const call = () => server.client(admin)
const inTeam = (nodeId?: string) => ({ teamSlug: team.slug, nodeId: nodeId ?? '' })
const makeNode = (name = `node ${randomUUID().slice(0, 6)}`) =>
  call().call('nodes.create', { params: { teamSlug: team.slug }, body: { name } })
const makeScript = (nodeId: string, body: Record<string, unknown> = {}) =>
  call().call('nodes.create-script', { params: inTeam(nodeId), body: { type: 'docker', scriptType: 'shell', ...body } })
const getToken = (command: string) => /(crux_[\w-]+)/.exec(command)?.[1] ?? ''
const download = (nodeId: string, what: string, token?: string, slug = team.slug) =>
  server.request(`/api/${slug}/nodes/${nodeId}/${what}`, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
  })
const install = async (nodeId: string) => {
  const token = getToken((await makeScript(nodeId)).command)
  const agent = new ScriptedAgent({ url: server.url, nodeId, token })
  agents.push(agent)
  await agent.exchange()
  await agent.connect()
  agent.useToken((await agent.command('rotateToken')).value.token)
  await agent.client.confirmToken({})
  return agent
}

test('a node is created, read, updated and deleted; its name is unique within the team', async () => {
  const made = await makeNode('web one')
  expect(made).toMatchObject({ name: 'web one', type: 'docker', status: 'unreachable' })
  await expect(makeNode('web one')).rejects.toMatchObject({ status: 409, property: 'name' })
  await call().call('nodes.update', { params: inTeam(made.id), body: { name: 'web two', icon: 'owl' } })
  expect(await call().call('nodes.get', { params: inTeam(made.id) })).toMatchObject({
    name: 'web two',
    icon: 'owl',
    hasToken: false,
    install: null,
    inUse: false,
  })
  await call().call('nodes.delete', { params: inTeam(made.id) })
  expect(await call().call('nodes.list', { params: inTeam() })).toEqual([])
  await expect(call().call('nodes.get', { params: inTeam(made.id) })).rejects.toMatchObject({ status: 404 })
})

test("every request for another team's node is answered as not found", async () => {
  const { id } = await makeNode()
  const stranger = server.signUp()
  const other = await server.createTeam(stranger)
  const params = { teamSlug: other.slug, nodeId: id }
  const client = server.client(stranger)
  const range = { skip: 0, take: 10, from: new Date(0).toISOString(), to: new Date().toISOString() }
  const attempts = [
    client.call('nodes.get', { params }),
    client.call('nodes.update', { params, body: { name: 'mine now' } }),
    client.call('nodes.delete', { params }),
    client.call('nodes.create-script', { params, body: { type: 'docker', scriptType: 'shell' } }),
    client.call('nodes.delete-script', { params }),
    client.call('nodes.revoke-token', { params }),
    client.call('nodes.kick', { params }),
    client.call('nodes.start-local-agent', { params }),
    client.call('nodes.audit', { params, query: range as never }),
  ]
  for (const attempt of await Promise.allSettled(attempts)) {
    expect(attempt).toMatchObject({ status: 'rejected', reason: { status: 404, property: 'id' } })
  }
})

test('the install script is kept until it is used: shown again unchanged, downloaded with its token alone, gone when discarded', async () => {
  const { id } = await makeNode()
  const made = await makeScript(id, { workloadName: 'my-agent' })
  expect(Date.parse(made.expireAt) - Date.now()).toBeGreaterThan(9.5 * 60_000)
  expect((await call().call('nodes.get', { params: inTeam(id) })).install).toEqual(made)
  expect(await makeScript(id, { workloadName: 'ignored' })).toEqual(made)

  const token = getToken(made.command)
  const script = await download(id, 'script', token)
  expect(script.status).toBe(200)
  expect(script.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await script.text()).toBe(made.script)
  expect(made.script).toContain("container_name='my-agent'")
  // A second download is possible: only the exchange invalidates the token.
  expect((await download(id, 'script', token)).status).toBe(200)

  const other = await makeNode()
  expect((await download(id, 'script')).status).toBe(401)
  expect((await download(id, 'script', `crux_${'x'.repeat(43)}`)).status).toBe(401)
  expect((await download(other.id, 'script', token)).status).toBe(401)
  expect((await download(id, 'script', token, 'another-team')).status).toBe(401)

  await call().call('nodes.delete-script', { params: inTeam(id) })
  expect((await download(id, 'script', token)).status).toBe(401)
  await expect(call().call('nodes.delete-script', { params: inTeam(id) })).rejects.toMatchObject({
    status: 404,
    property: 'installer',
  })
})

test('the token of an install script that was not run for ten minutes is invalid', async () => {
  const { id } = await makeNode()
  const token = getToken((await makeScript(id)).command)
  await server.app.database.db
    .update(nodeInstall)
    .set({ expiresAt: new Date(Date.now() - 1) })
    .where(eq(nodeInstall.nodeId, id))
  expect((await download(id, 'script', token)).status).toBe(401)
  expect((await download(id, 'agent-image', token)).status).toBe(401)
  expect((await call().call('nodes.get', { params: inTeam(id) })).install).toBeNull()
  expect(getToken((await makeScript(id)).command)).not.toBe(token)
})

test('the agent image is streamed with its length to holders of the token, and refused with a sentence for another architecture', async () => {
  const { id } = await makeNode()
  const token = getToken((await makeScript(id)).command)
  expect((await download(id, 'agent-image', token)).status).toBe(412)
  const bytes = Buffer.alloc(3_000_000, 'crux')
  writeFileSync(join(dataDir, 'agent-image.tar'), bytes)
  const image = await download(id, `agent-image?architecture=${process.arch === 'x64' ? 'x86_64' : 'aarch64'}`, token)
  expect(image.headers.get('content-length')).toBe('3000000')
  expect(Buffer.from(await image.arrayBuffer()).equals(bytes)).toBe(true)
  const foreign = await download(id, 'agent-image?architecture=riscv64', token)
  expect(foreign.status).toBe(412)
  expect(((await foreign.json()) as { description: string }).description).toContain('CRUX_AGENT_IMAGE')
  expect((await download(id, 'agent-image')).status).toBe(401)
})

test('paths and names that could escape their quotes are refused before a script is created', async () => {
  const { id } = await makeNode()
  for (const rootPath of ["/a'b", '/a"b', '/$(x)', '/a`b`', '/a\nb', '-rf']) {
    await expect(makeScript(id, { rootPath })).rejects.toMatchObject({ status: 400, property: 'rootPath' })
  }
  await expect(makeScript(id, { workloadName: 'a b' })).rejects.toMatchObject({ status: 400 })
})

test('an installing agent is visible live, and its events are recorded', async () => {
  const { id } = await makeNode()
  const live = server.live(admin)
  const seen: { id: string; status: string; version?: string | null }[] = []
  const channel = live.channel('nodes', { teamSlug: team.slug })
  channel.on('event', (event) => void (event.id === id && seen.push(event)))
  await until(() => seen.length > 0)
  expect(seen[0]?.status).toBe('unreachable')
  const agent = await install(id)
  await until(() => seen.some(({ status, version }) => status === 'connected' && version === '1.0.0'))
  expect(await call().call('nodes.get', { params: inTeam(id) })).toMatchObject({
    status: 'connected',
    hasToken: true,
    install: null,
    address: '127.0.0.1',
    version: '1.0.0',
    engineVersion: 'Docker 28.0.0',
  })
  await expect(makeScript(id)).rejects.toMatchObject({ status: 409, property: 'id' })
  await expect(call().call('nodes.start-local-agent', { params: inTeam(id) })).rejects.toMatchObject({ status: 409 })

  await call().call('nodes.kick', { params: inTeam(id) })
  await agent.ended
  await until(() => seen.at(-1)?.status === 'unreachable')
  await call().call('nodes.revoke-token', { params: inTeam(id) })
  await expect(call().call('nodes.revoke-token', { params: inTeam(id) })).rejects.toMatchObject({ status: 404 })
  const query = { from: new Date(0).toISOString(), to: new Date(Date.now() + 1_000).toISOString() } as never as object
  const audit = (more: object) =>
    call().call('nodes.audit', { params: inTeam(id), query: { skip: 0, take: 10, ...query, ...more } as never })
  await until(async () => (await audit({})).items.some(({ event }) => event === 'left'))
  const all = await audit({})
  expect(all.items.map(({ event }) => event).filter((event) => event !== 'left')).toEqual([
    'kicked',
    'kicked',
    'tokenReplaced',
    'connected',
    'installed',
  ])
  expect(all.total).toBe(6)
  expect(await audit({ filterEventType: 'kicked', take: 1 })).toMatchObject({
    total: 2,
    items: [{ data: { reason: 'revoke-token', user: { id: admin.id, name: admin.name } } }],
  })
  expect((await audit({ to: new Date(1).toISOString() })).total).toBe(0)
  // The token was used, so that a new script can be created.
  expect(getToken((await makeScript(id)).command)).not.toBe('')
})

test('a node with deployments is not deleted, and stays unchanged', async () => {
  const { id } = await makeNode()
  const { db } = server.app.database
  const by = { createdBy: admin.id, updatedBy: admin.id }
  const [made] = await db
    .insert(project)
    .values({ teamId: team.id, name: 'shop', type: 'versioned', ...by })
    .returning()
  const projectId = made?.id ?? ''
  const [v1] = await db
    .insert(version)
    .values({ projectId, name: '1', type: 'incremental', ...by })
    .returning()
  await db
    .insert(deployment)
    .values({ teamId: team.id, projectId, versionId: v1?.id ?? '', nodeId: id, prefix: 'shop', ...by })
  await expect(call().call('nodes.delete', { params: inTeam(id) })).rejects.toMatchObject({
    status: 412,
    property: 'id',
  })
  expect(await call().call('nodes.get', { params: inTeam(id) })).toMatchObject({ inUse: true })
})

test('deleting a node ends its agent, which cannot reconnect', async () => {
  const { id } = await makeNode()
  const agent = await install(id)
  await call().call('nodes.delete', { params: inTeam(id) })
  expect((await agent.command('closeLink')).value.reason).toBe(2)
  await agent.ended
  await expect(agent.connect()).rejects.toMatchObject({ code: 16 })
})

test('a user with the role user sees nodes and cannot change them', async () => {
  const { id } = await makeNode()
  const user = server.client(await server.addMember(team, 'user'))
  await makeScript(id)
  // The command would let every reader run an agent for this node.
  expect(await user.call('nodes.get', { params: inTeam(id) })).toMatchObject({ id, install: null })
  expect((await call().call('nodes.get', { params: inTeam(id) })).install?.command).toContain('crux_')
  await expect(user.call('nodes.kick', { params: inTeam(id) })).rejects.toMatchObject({ status: 403 })
  await expect(
    user.call('nodes.create-script', { params: inTeam(id), body: { type: 'docker', scriptType: 'shell' } }),
  ).rejects.toMatchObject({ status: 403 })
})

test('a local agent is refused wherever the console can be reached from other machines', async () => {
  const { id } = await makeNode()
  const { config } = server.app
  const before = { host: config.host, embedded: config.embedded }
  for (const change of [{ host: '0.0.0.0' }, { embedded: false }]) {
    Object.assign(config, change)
    await expect(call().call('nodes.start-local-agent', { params: inTeam(id) })).rejects.toMatchObject({
      status: 412,
      property: 'localAgent',
    })
    expect((await call().call('nodes.get', { params: inTeam(id) })).localAgent).toMatchObject({ available: false })
    Object.assign(config, before)
  }
  expect(existsSync(join(dataDir, 'agents', id))).toBe(false)
})
