import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, until } from './kit/index.ts'

type Line = { level: string; msg: string; path?: string; err?: unknown }

let identity: Server
let crux: TestServer
let ada: Someone
let teamSlug: string
const lines: Line[] = []
/** Requests that have reached the identity service, and functions that let it answer. */
const held: { answer: () => void; closed: Promise<unknown> }[] = []

beforeAll(async () => {
  identity = createServer((request, response) => {
    request.resume()
    held.push({
      answer: () => response.end('x'.repeat(1_000_000)),
      closed: once(response, 'close'),
    })
  }).listen(0, '127.0.0.1')
  await once(identity, 'listening')
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) }
  crux = await startTestServer({
    config: { identityPublicUrl: `http://127.0.0.1:${(identity.address() as AddressInfo).port}` },
    overrides: { log: createLogger({ name: 'test', level: 'debug', destination }) },
  })
  ada = crux.signUp('Ada')
  teamSlug = (await crux.createTeam(ada)).slug
})
beforeEach(() => {
  lines.length = 0
  held.length = 0
})
afterAll(async () => {
  await crux.stop()
  identity.closeAllConnections()
  identity.close()
})

const atLevel = (level: string) => lines.filter((line) => line.level === level)
const aborted = () => atLevel('debug').filter(({ msg }) => msg.includes('disconnected'))

async function open(head: string, body = '') {
  const socket = connect(crux.server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`${head}\r\nHost: localhost:${crux.server.port}\r\nAuthorization: Bearer ${ada.token}\r\n${body}`)
  return socket
}

it('the server logs a relayed request whose client disconnects while sending at debug, and none at error', async () => {
  const socket = await open('POST /kratos/self-service/login?flow=1 HTTP/1.1', 'Content-Length: 1000\r\n\r\nhalf')
  await until(() => held.length === 1)
  socket.resetAndDestroy()
  await until(() => aborted().length === 1)
  await held[0]?.closed
  expect(aborted()[0]).toMatchObject({ path: '/kratos/*' })
  expect([atLevel('error'), atLevel('warn')]).toEqual([[], []])
  expect(JSON.stringify(aborted())).not.toContain('stack')
})

it('the server logs nothing at error when the client disconnects while the identity service answers', async () => {
  for (const leave of ['resetAndDestroy', 'destroy'] as const) {
    const socket = await open('GET /kratos/sessions/whoami HTTP/1.1', '\r\n')
    await until(() => held.length > 0)
    socket[leave]()
    await once(socket, 'close')
    const [one] = held.splice(0)
    one?.answer()
    await one?.closed
  }
  const session = connectHttp2(crux.url)
  const stream = session.request({ ':path': '/kratos/sessions/whoami' })
  stream.on('error', () => undefined)
  await until(() => held.length > 0)
  stream.close(8)
  await once(stream, 'close')
  held[0]?.answer()
  await held[0]?.closed
  session.destroy()
  // A later request has been answered, so that the lost ones have written their log lines.
  expect((await crux.request('/api/teams', { as: ada })).status).toBe(200)
  expect([atLevel('error'), atLevel('warn')]).toEqual([[], []])
})

it('the server logs an API request whose body breaks off at debug, and no error of the database', async () => {
  const socket = await open(
    'POST /api/teams HTTP/1.1',
    'Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n',
  )
  // The server has started to read the body when it asks for it.
  await once(socket, 'data')
  socket.write('{"name":')
  socket.resetAndDestroy()
  await until(() => aborted().length === 1)
  expect(aborted()[0]).toMatchObject({ path: '/api/teams' })
  expect([atLevel('error'), atLevel('warn')]).toEqual([[], []])
})

it('the server logs a download that the client breaks off at debug', async () => {
  const socket = await open(
    `GET /api/${teamSlug}/audit-log/export.csv?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z HTTP/1.1`,
    '\r\n',
  )
  socket.resetAndDestroy()
  await once(socket, 'close')
  expect((await crux.request('/api/teams', { as: ada })).status).toBe(200)
  expect([atLevel('error'), atLevel('warn')]).toEqual([[], []])
})

it('the server logs an unreachable identity service as an error', async () => {
  const alone = await startTestServer({
    config: { identityPublicUrl: 'http://127.0.0.1:9' },
    overrides: {
      log: createLogger({
        name: 'test',
        level: 'error',
        destination: { write: (line) => void lines.push(JSON.parse(line)) },
      }),
    },
  })
  expect((await alone.request('/kratos/sessions/whoami')).status).toBe(503)
  expect(atLevel('error')).toMatchObject([{ msg: 'a request failed', path: '/kratos/*' }])
  await alone.stop()
})
