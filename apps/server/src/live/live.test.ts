import type { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawData, WebSocket } from 'ws'
import { type Someone, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from '../../test/kit/test-environment.ts'

type Frame = { type: string; data: Record<string, unknown> }

let crux: TestServer
let ada: Someone
let testEnvironment: TestEnvironment
let path: string

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  testEnvironment = await makeTestEnvironment(crux, ada)
  path = `/${testEnvironment.teamSlug}/projects/${testEnvironment.projectId}/versions/${testEnvironment.versionId}`
})
afterAll(() => crux.stop())

const address = () => `${crux.url.replace('http', 'ws')}/api`
const member = () => crux.addMember({ id: testEnvironment.teamId, slug: testEnvironment.teamSlug, name: '' }, 'user')

async function dial(as: Someone, at = crux) {
  const socket = new WebSocket(`${at.url.replace('http', 'ws')}/api`, {
    headers: { authorization: `Bearer ${as.token}` },
  })
  const frames: Frame[] = []
  socket.on('message', (data: RawData) => frames.push(JSON.parse(String(data)) as Frame))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  const send = (type: string, data?: unknown) => socket.send(JSON.stringify({ type, data }))
  const next = (type: string, count = 1) => until(() => frames.filter((frame) => frame.type === type)[count - 1])
  return {
    socket,
    frames,
    closed,
    send,
    next,
    async subscribe(to = path) {
      send('subscribe', { path: to })
      await next('subbed')
    },
  }
}

/** The server's response to an upgrade with these headers. */
const upgrade = (headers: Record<string, string>, url = address()) =>
  new Promise<number>((resolve, reject) => {
    const socket = new WebSocket(url, { headers })
    socket.on('open', () => {
      resolve(101)
      socket.close()
    })
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    socket.on('error', reject)
  })

describe('a live socket', () => {
  it('opens for a session by cookie or header, on any path below /api, from our own pages only', async () => {
    const cookie = `other=1; ory_kratos_session=${ada.token}`
    const { port } = crux.server
    expect(await upgrade({})).toBe(401)
    expect(await upgrade({ cookie: 'ory_kratos_session=wrong' })).toBe(401)
    expect(await upgrade({ cookie })).toBe(101)
    expect(await upgrade({ authorization: `Bearer ${ada.token}` })).toBe(101)
    expect(await upgrade({ cookie, origin: crux.url })).toBe(101)
    expect(await upgrade({ cookie, origin: `http://127.0.0.1:${port}` })).toBe(101)
    expect(await upgrade({ cookie, origin: 'http://evil.example' })).toBe(403)
    expect(await upgrade({ cookie, origin: `http://evil.example`, host: 'evil.example' })).toBe(421)
    expect(await upgrade({ cookie, origin: 'null' })).toBe(403)
    expect(await upgrade({ cookie }, `${address()}/any/path`)).toBe(101)
    expect(await upgrade({ cookie }, address().replace('/api', '/elsewhere'))).toBe(404)
    expect(await upgrade({}, `${address()}?token=${ada.token}`)).toBe(401)
  })

  it('answers a subscription once, an unknown path with 404, and ignores messages for other paths', async () => {
    const { send, next, frames, socket } = await dial(ada)
    send('subscribe', { path })
    await next('subbed')
    send('subscribe', { path })
    send('subscribe', { path: '/nowhere/at/all' })
    expect((await next('error')).data).toMatchObject({ status: 404, property: 'path', path: '/nowhere/at/all' })
    socket.send('no json')
    socket.send(Buffer.from('{"type":"subscribe"}'))
    send(`/${testEnvironment.teamSlug}/registries/find-image`, {})
    send('unsubscribe', { path })
    await next('unsubbed')
    send(`${path}/get-image`, { id: testEnvironment.imageId })
    send('unsubscribe', { path })
    await next('unsubbed', 2)
    expect(frames.map((frame) => frame.type)).toEqual([
      'subbed',
      `${path}/editor-init`,
      'error',
      'unsubbed',
      'unsubbed',
    ])
    socket.close()
  })

  it('drops a path that is unsubscribed before it is open, and opens it when it is requested again', async () => {
    const { send, next, frames, socket } = await dial(ada)
    send('subscribe', { path })
    send('unsubscribe', { path })
    await next('unsubbed')
    // Answers come in order, so that the first subscription would have ended by now.
    send('subscribe', { path: '/nowhere/at/all' })
    await next('error')
    send('subscribe', { path })
    await next('subbed')
    const init = await next(`${path}/editor-init`)
    expect(frames.map((frame) => frame.type)).toEqual(['unsubbed', 'error', 'subbed', `${path}/editor-init`])
    // The list has no other editor: the cancelled subscription left none.
    expect(init.data.editors).toHaveLength(1)
    socket.close()
  })

  it('refuses an invalid payload, names the place, and continues', async () => {
    const { send, next, subscribe, socket } = await dial(ada)
    await subscribe()
    send(`${path}/set-image-tag`, { imageId: testEnvironment.imageId, tag: 'not a tag' })
    expect((await next('error')).data).toMatchObject({ status: 400, error: 'invalidArgument', property: 'tag', path })
    send(`${path}/no-such-message`, {})
    expect((await next('error', 2)).data).toMatchObject({ status: 400, property: 'type', path })
    send(`${path}/delete-image`, { imageId: testEnvironment.projectId })
    expect((await next('error', 3)).data).toMatchObject({ status: 404, property: 'imageId', path })
    socket.send(JSON.stringify({ type: `${path}/delete-image`, data: { imageId: testEnvironment.projectId }, id: '7' }))
    expect((await next('error', 4)).data).toMatchObject({ status: 404, path, id: '7' })
    send(`${path}/get-image`, { id: testEnvironment.imageId })
    expect((await next(`${path}/image`)).data).toMatchObject({ id: testEnvironment.imageId, name: 'shop/web' })
    socket.close()
  })

  it('is closed when a message is too large', async () => {
    const { socket, closed } = await dial(ada)
    socket.send('x'.repeat(2_000_000))
    expect(await closed).toBe(1009)
  })

  it('ends with 4401 within a second when its session ends', async () => {
    const someone = await member()
    const { subscribe, closed } = await dial(someone)
    await subscribe()
    await crux.signOut(someone)
    expect(await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000, 'late'))])).toBe(4401)
  })

  it('ends with 4401 when its session expires', async () => {
    const { closed } = await dial(crux.people.signUp('Short', { expiresInMs: 400 }))
    expect(await closed).toBe(4401)
  })

  it('loses its paths within five seconds when no event reported the lost membership', async () => {
    const someone = await member()
    const { subscribe, next, socket } = await dial(someone)
    await subscribe()
    const begun = Date.now()
    await crux.app.database.pool.query('delete from crux.team_member where user_id = $1', [someone.id])
    await next('sub-failed')
    expect(Date.now() - begun).toBeLessThan(5_000)
    expect(socket.readyState).toBe(WebSocket.OPEN)
    socket.close()
  })

  it('that does not read is closed before it fills our memory', async () => {
    const { subscribe, socket, closed } = await dial(ada)
    await subscribe()
    const clients = async () =>
      Number(/^crux_ws_connected_clients (\d+)/m.exec(await (await crux.request('/metrics')).text())?.[1])
    const open = await clients()
    socket.pause()
    const raw = (socket as unknown as { _socket: ReturnType<typeof connect> })._socket
    raw.pause()
    const images = (await crux.client(ada).call('images.list', { params: testEnvironment })).slice(0, 1)
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`label-${index}`, 'x'.repeat(1_000)]))
    await crux.app.database.pool.query('update crux.image set labels = $2 where id = $1', [
      images[0]?.id,
      JSON.stringify(labels),
    ])
    const before = process.memoryUsage().rss
    // Each of them is a response of 200 kB; 600 MB would wait without a limit.
    for (let sent = 0; sent < 3_000; sent++)
      socket.send(JSON.stringify({ type: `${path}/get-image`, data: { id: testEnvironment.imageId } }))
    await until(async () => (await clients()) < open, 15_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1_024 * 1_024)
    raw.resume()
    socket.resume()
    expect([1006, 1013]).toContain(await closed)
    await crux.app.database.pool.query(`update crux.image set labels = '{}' where id = $1`, [images[0]?.id])
  })
})

describe('two users on one version', () => {
  it('see each other arrive, focus and leave', async () => {
    const [one, two] = [await dial(ada), await dial(await member())]
    await one.subscribe()
    const { data: first } = await one.next(`${path}/editor-init`)
    await two.subscribe()
    const { data: second } = await two.next(`${path}/editor-init`)
    expect((second.editors as { id: string }[]).map((editor) => editor.id).sort()).toEqual(
      [first.meId, second.meId].sort(),
    )
    const colors = (second.editors as { color: string }[]).map((editor) => editor.color)
    expect(new Set(colors).size).toBe(2)
    for (const color of colors) expect(color).toMatch(/^#[0-9a-f]{6}$/)
    expect((await one.next(`${path}/editor-joined`)).data).toMatchObject({ id: second.meId })
    const focus = { itemId: testEnvironment.imageId, inputId: 'tag' }
    two.send(`${path}/focus-input`, focus)
    expect((await one.next(`${path}/input-focused`)).data).toEqual({ ...focus, userId: second.meId })
    two.send(`${path}/blur-input`, focus)
    expect((await one.next(`${path}/input-blured`)).data).toEqual({ ...focus, userId: second.meId })
    two.socket.close()
    expect((await one.next(`${path}/editor-left`)).data).toMatchObject({ id: second.meId })
    expect(two.frames.map((frame) => frame.type)).toEqual(['subbed', `${path}/editor-init`])
    one.socket.close()
  })

  it('each get every change once, independent of its author and its way', async () => {
    const [one, two] = [await dial(ada), await dial(await member())]
    await Promise.all([one.subscribe(), two.subscribe()])
    one.send(`${path}/add-images`, {
      registryImages: [{ registryId: testEnvironment.registryId, images: ['live/db:1'] }],
    })
    const added = (await two.next(`${path}/images-added`)).data.images as { id: string; name: string }[]
    expect(added).toMatchObject([{ name: 'live/db' }])
    await one.next(`${path}/images-added`)
    const imageId = added[0]?.id ?? ''
    one.send(`${path}/set-image-tag`, { imageId, tag: '2' })
    expect((await two.next(`${path}/image-tag-updated`)).data).toEqual({ imageId, tag: '2' })
    expect((await one.next(`${path}/patch-received`)).data).toBeNull()
    await crux.client(ada).call('images.order', { params: testEnvironment, body: [imageId, testEnvironment.imageId] })
    expect((await two.next(`${path}/images-were-reordered`)).data).toEqual([imageId, testEnvironment.imageId])
    await one.next(`${path}/images-were-reordered`)
    two.send(`${path}/order-images`, [testEnvironment.imageId, imageId])
    expect((await two.next(`${path}/patch-received`)).data).toBeNull()
    two.send(`${path}/delete-image`, { imageId })
    expect((await one.next(`${path}/image-deleted`)).data).toEqual({ imageId })
    await two.next(`${path}/image-deleted`)
    const kinds = (frames: Frame[]) =>
      frames.map((frame) => frame.type.replace(`${path}/`, '')).filter((type) => /image|patch/.test(type))
    expect(kinds(one.frames)).toEqual([
      'images-added',
      'patch-received',
      'images-were-reordered',
      'images-were-reordered',
      'image-deleted',
    ])
    expect(kinds(two.frames)).toEqual([
      'images-added',
      'image-tag-updated',
      'images-were-reordered',
      'patch-received',
      'image-deleted',
    ])
    const { rows } = await crux.app.database.pool.query(
      `select event, accepted from crux.audit_log where context = 'ws' and event like 'image %' and accepted order by id`,
    )
    expect(rows.map((row) => row.event)).toEqual([
      'image version.add-images',
      'image version.set-image-tag',
      'image version.order-images',
      'image version.delete-image',
    ])
    one.socket.close()
    two.socket.close()
  })

  it('see each other also when they are connected to different servers', async () => {
    const other = await startTestServer({ database: crux.database, people: crux.people })
    const [here, there] = [await dial(ada), await dial(ada, other)]
    await here.subscribe()
    await there.subscribe()
    const mine = (await here.next(`${path}/editor-init`)).data.meId
    const theirs = (await there.next(`${path}/editor-init`)).data.meId
    expect((await here.next(`${path}/editor-joined`)).data.id).toBe(theirs)
    expect((await there.next(`${path}/editor-joined`)).data.id).toBe(mine)
    there.send(`${path}/add-images`, {
      registryImages: [{ registryId: testEnvironment.registryId, images: ['far/db:1'] }],
    })
    await here.next(`${path}/images-added`)
    await other.stop({ database: true })
    expect(await there.closed).toBe(1001)
    expect((await here.next(`${path}/editor-left`)).data.id).toBe(theirs)
    here.socket.close()
  })
})
