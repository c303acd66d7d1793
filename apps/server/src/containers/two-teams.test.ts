import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  connectLocalNode,
  connectRegistry,
  createDeployment,
  createService,
  deploy,
  idle,
  loadImage,
  type Registry,
  raw,
  type Service,
  startRegistry,
  type TestEnvironment,
  type TestUser,
  unique,
} from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { engineAnswers } from '../nodes/local-agent-process.ts'

/** Two teams, each with its own agent on the one engine of this machine. */
const withEngine = describe.skipIf(!(await engineAnswers()))
const prefix = unique('vic')
const victim = `${prefix}-box`
const nobody = unique('nobody')
const password = unique('team-a-password')
const logLine = unique('team-a-log-line')

let server: TestServer
let registry: Registry
let dataDir: string
let a: Team
let b: Team
let service: Service
let deploymentId: string

type Team = TestTeam & { owner: Someone; admin: Someone; user: Someone; testEnvironment: TestEnvironment }

beforeAll(async () => {
  if (!(await engineAnswers())) return
  dataDir = mkdtempSync(join(tmpdir(), 'crux-two-teams-'))
  server = await startTestServer({ config: { dataDir } })
  registry = await startRegistry()
  ;[a, b] = await Promise.all([makeTeam(), makeTeam()])
  await loadImage(`${nobody}:1`, idle())
  const id = await raw.create(nobody, { Image: `${nobody}:1`, Labels: { 'of.somebody': 'secret-label' } })
  await raw.start(id)
  service = await createService(a.testEnvironment, [
    {
      name: `app/${prefix}`,
      tag: '1',
      image: idle(logLine),
      config: { name: 'box', environment: [{ id: crypto.randomUUID(), key: 'DB_PASSWORD', value: password }] },
    },
  ])
  deploymentId = (await createDeployment(a.testEnvironment, service, prefix)).id
  expect(await deploy(a.testEnvironment, deploymentId)).toMatchObject({ status: 'successful' })
})

afterAll(async () => {
  for (const { Id } of [
    ...(await raw.list(`dev.crux.prefix=${prefix}`)),
    ...(await raw.list('of.somebody=secret-label')),
  ])
    await raw.remove(Id).catch(() => undefined)
  for (const { Id } of await raw.networks(`dev.crux.prefix=${prefix}`))
    await raw.removeNetwork(Id).catch(() => undefined)
  await server?.stop()
  await registry?.remove()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true })
})

async function makeTeam(): Promise<Team> {
  const owner = server.signUp()
  const team = await server.createTeam(owner)
  const user = { client: server.client(owner) } as TestUser
  const [nodeId, registryId] = await Promise.all([
    connectLocalNode(user, team.slug),
    connectRegistry(user, team.slug, registry),
  ])
  return {
    ...team,
    owner,
    admin: await server.addMember(team, 'admin'),
    user: await server.addMember(team, 'user'),
    testEnvironment: { user, teamSlug: team.slug, teamId: team.id, nodeId, registryId, registry },
  }
}

/** Sends a request below the node of a team. */
async function ask(team: Team, someone: Someone, path: string, method = 'GET', nodeId = team.testEnvironment.nodeId) {
  const response = await server.request(`/api/${team.slug}/nodes/${nodeId}${path}`, { method, as: someone })
  return { status: response.status, text: await response.text() }
}

type Listed = { id: { prefix: string; name: string }; managed?: object | null; labels: object; command: string }
async function list(team: Team, someone: Someone, segment: string, nodeId?: string): Promise<Listed[]> {
  const { status, text } = await ask(team, someone, `/${segment}/containers`, 'GET', nodeId)
  expect(status).toBe(200)
  return JSON.parse(text) as Listed[]
}

const getState = async () => (await raw.list(`dev.crux.prefix=${prefix}`)).map(({ Id }) => Id)
/** The names with which a client could address A's container, and one that no deployment created. */
const names = [`/${prefix}/containers/box`, `/_/containers/${victim}`, `/_/containers/${nobody}`]

withEngine('two teams on one engine', () => {
  test('users and admins of team B get not found for every command on containers of team A and on those that Crux did not start', async () => {
    const before = await getState()
    for (const someone of [b.user, b.admin]) {
      for (const name of names) {
        for (const path of ['/inspect', '/log'])
          expect((await ask(b, someone, `${name}${path}`)).status, `${name}${path}`).toBe(404)
        for (const operation of ['start', 'stop', 'restart'])
          expect((await ask(b, someone, `${name}/${operation}`, 'POST')).status, `${operation} ${name}`).toBe(404)
      }
      expect(await list(b, someone, prefix)).toEqual([])
    }
    for (const name of names) {
      expect((await ask(b, b.user, name, 'DELETE')).status).toBe(403)
      expect((await ask(b, b.admin, name, 'DELETE')).status).toBe(404)
    }
    // Deletes B's own containers of the prefix, of which there are none.
    expect((await ask(b, b.admin, `/${prefix}/containers`, 'DELETE')).status).toBe(204)
    expect(await getState()).toEqual(before)
    for (const id of [...before, nobody]) expect((await raw.inspect(id)).State.Running).toBe(true)
  })

  test('a refusal has the same text whether the container exists or not', async () => {
    const missing = unique('missing')
    for (const path of ['/inspect', '/log']) {
      const foreign = await ask(b, b.user, `/_/containers/${victim}${path}`)
      const none = await ask(b, b.user, `/_/containers/${missing}${path}`)
      const plain = (text: string, name: string) => text.replaceAll(name, 'NAME').replace(/"requestId":"[^"]*"/, '')
      expect(plain(foreign.text, victim)).toBe(plain(none.text, missing))
    }
  })

  test('a container list shows a user of team B none of team A and of other software, and an admin only their name, image and state', async () => {
    const seenByUser = await list(b, b.user, '_')
    expect(seenByUser.filter(({ managed }) => !managed)).toEqual([])
    expect(seenByUser.some(({ id }) => [victim, nobody].includes(id.name))).toBe(false)
    const seenByAdmin = await list(b, b.admin, '_')
    for (const name of [victim, nobody])
      expect(seenByAdmin.find(({ id }) => id.name === name)).toEqual({
        id: { prefix: '', name },
        command: '',
        createdAt: '1970-01-01T00:00:00.000Z',
        state: 'running',
        reason: 'running',
        imageName: name === nobody ? nobody : `${registry.host}/app/${prefix}`,
        imageTag: '1',
        ports: [],
        labels: {},
      })
    expect(JSON.stringify(seenByAdmin)).not.toMatch(/secret-label/)
  })

  test('the live channel shows and allows no more than the lists and commands', async () => {
    for (const [someone, seesName] of [
      [b.user, false],
      [b.admin, true],
    ] as const) {
      const live = server.live(someone)
      const params = { teamSlug: b.slug, nodeId: b.testEnvironment.nodeId }
      const channel = live.channel('node', params)
      const failures: unknown[] = []
      live.onError((failure) => failures.push(failure))
      let listed: string[] | undefined
      const lines: string[] = []
      channel.on('containers-state-list', ({ containers }) => {
        listed = containers.map(({ id }) => id.name)
        expect(JSON.stringify(containers)).not.toContain('secret-label')
      })
      channel.on('container-log', ({ log }) => lines.push(log))
      channel.onReady(() => channel.send('watch-containers-state', {}))
      await until(() => listed, 15_000)
      expect([victim, nobody].map((name) => listed?.includes(name))).toEqual([seesName, seesName])
      for (const container of [
        { prefix, name: 'box' },
        { prefix: '', name: victim },
        { prefix: '', name: nobody },
      ]) {
        const before = failures.length
        channel.send('watch-container-log', { container })
        channel.send('container-command', { container, operation: 'stop' })
        channel.send('delete-container', { container })
        await until(() => failures.length === before + 3, 15_000)
      }
      expect(lines).toEqual([])
      channel.close()
    }
    for (const id of [...(await getState()), nobody]) expect((await raw.inspect(id)).State.Running).toBe(true)
  })

  test("an image list shows a user of team B none of team A's images, and an admin only their names and sizes", async () => {
    type Images = { images: { id: string; references: string[]; createdAt: string | null; neededBy: string | null }[] }
    const listImages = async (team: Team, someone: Someone) =>
      JSON.parse((await ask(team, someone, '/images')).text) as Images
    const named = ({ images }: Images) => images.filter(({ references }) => references.join().includes(prefix))
    expect(named(await listImages(b, b.user))).toEqual([])
    expect(named(await listImages(b, b.admin))).toMatchObject([
      { id: '', createdAt: null, neededBy: null, state: 'foreign' },
    ])
    const [own] = named(await listImages(a, a.user))
    expect(own).toMatchObject({ state: 'running', neededBy: victim })
    expect((await listImages(a, a.user)).images.every(({ id }) => id !== '')).toBe(true)
  })

  test('users of team A inspect, read, restart and list their own container', async () => {
    for (const name of names.slice(0, 2)) {
      expect((await ask(a, a.user, `${name}/inspect`)).text).toContain(password)
      expect((await ask(a, a.user, `${name}/log`)).text).toContain(logLine)
      expect((await ask(a, a.user, `${name}/restart`, 'POST')).status).toBe(204)
    }
    expect(await list(a, a.user, prefix)).toMatchObject([
      { id: { prefix, name: 'box' }, managed: { prefix, name: 'box' } },
    ])
    expect((await list(a, a.user, '_')).find(({ id }) => id.name === victim)).toMatchObject({
      id: { prefix: '', name: victim },
      managed: { prefix, name: 'box' },
      reason: 'running',
    })
  })

  test('another live node of team A on the same engine does not change the container', async () => {
    const second = await connectLocalNode(a.testEnvironment.user, a.slug)
    for (const name of names) expect((await ask(a, a.admin, `${name}/stop`, 'POST', second)).status).toBe(404)
    expect(await list(a, a.user, prefix, second)).toEqual([])
    expect((await list(a, a.user, '_', second)).map(({ id }) => id.name)).not.toContain(victim)
    await a.testEnvironment.user.client.call('nodes.delete', { params: { teamSlug: a.slug, nodeId: second } })
  })

  test('a reinstalled node of team A keeps the container of its deleted predecessor, and a deployment takes it over', async () => {
    const { client } = a.testEnvironment.user
    await client.call('deployments.delete', { params: { teamSlug: a.slug, deploymentId }, query: {} })
    await client.call('nodes.delete', { params: { teamSlug: a.slug, nodeId: a.testEnvironment.nodeId } })
    const [before] = await getState()
    const nodeId = await connectLocalNode(a.testEnvironment.user, a.slug)
    expect(await list(a, a.user, prefix, nodeId)).toMatchObject([{ managed: { prefix, name: 'box' } }])
    expect((await ask(a, a.user, `${names[0]}/inspect`, 'GET', nodeId)).text).toContain(password)
    expect((await ask(a, a.user, `${names[0]}/restart`, 'POST', nodeId)).status).toBe(204)
    // The deletion changed nothing for B.
    expect((await ask(b, b.admin, `${names[1]}/inspect`)).status).toBe(404)

    const testEnvironment = { ...a.testEnvironment, nodeId }
    const next = await deploy(testEnvironment, (await createDeployment(testEnvironment, service, prefix)).id)
    expect(next).toMatchObject({ status: 'successful' })
    const after = await getState()
    expect(after).toHaveLength(1)
    expect(after).not.toContain(before)
    // The network of the deleted node is removed with its last container.
    expect(await raw.networks(`dev.crux.node=${a.testEnvironment.nodeId}`)).toEqual([])
    expect((await ask(a, a.admin, names[0] ?? '', 'DELETE', nodeId)).status).toBe(204)
    expect(await getState()).toEqual([])
  })
})
