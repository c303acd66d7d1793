import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'

let crux: TestServer
let ada: Someone
let port: number
beforeAll(async () => {
  crux = await startTestServer()
  port = crux.server.port
  ada = crux.signUp('Ada')
})
afterAll(() => crux.stop())

/** Writes one HTTP/1.1 request unchanged, and reads until the server closes the connection. */
async function send(lines: string[], server = crux) {
  const socket = connect(server.server.port, '127.0.0.1')
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head: head.toLowerCase(), body }
}
const statusFor = async (host: string, path = '/api/teams', server = crux) =>
  (await send([`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${ada.token}`], server)).status

it('the server accepts its own address and the loopback names at its port, in any case', async () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
    expect([host, await statusFor(`${host}:${port}`)]).toEqual([host, 200])
})

it('the server refuses every other host with 421 on every path: API, pages, files and the identity service', async () => {
  const foreign = [
    'evil.example',
    `evil.example:${port}`,
    'localhost',
    `localhost:${port + 1}`,
    `localhost.:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `localhost:${port}@evil.example`,
    `evil.example@localhost:${port}`,
    `localhost:0${port}`,
    `127.1:${port}`,
    '',
  ]
  for (const host of foreign) {
    for (const path of ['/api/teams', '/', '/assets/none.js', '/kratos/sessions/whoami', '/api/swagger', '/none'])
      expect([host, path, await statusFor(host, path)]).toEqual([host, path, 421])
  }
})

it('the server names its address in the form of every refusal, and never repeats the requested host', async () => {
  const answer = await send(['POST /api/teams HTTP/1.1', 'Host: evil.example', 'Content-Length: 0'])
  expect(JSON.parse(answer.body)).toMatchObject({
    status: 421,
    error: 'misdirectedRequest',
    property: 'host',
    description: expect.stringContaining(crux.url),
    requestId: expect.any(String),
  })
  expect(answer.body).not.toContain('evil')
  expect(answer.head).toContain('content-security-policy')
})

it('the server answers health and metrics under any host', async () => {
  for (const path of ['/health', '/health/ready', '/api/health', '/metrics'])
    expect([path, await statusFor('10.1.2.3:8000', path)]).not.toEqual([path, 421])
})

it('the server refuses a request without a host, with two, and with a target of another host', async () => {
  expect((await send(['GET /api/teams HTTP/1.0'])).status).toBe(421)
  expect((await send(['GET /api/teams HTTP/1.1'])).status).toBe(400)
  for (const second of [`localhost:${port}`, 'evil.example']) {
    const answer = await send(['GET /api/teams HTTP/1.1', `Host: localhost:${port}`, `Host: ${second}`])
    expect([second, answer.status]).toEqual([second, 421])
  }
  const targets = [
    'http://evil.example/api/teams',
    `http://evil.example@localhost:${port}/api/teams`,
    'http:///api/teams',
  ]
  for (const target of targets) {
    const { status } = await send([`GET ${target} HTTP/1.1`, `Host: localhost:${port}`])
    expect([target, [400, 404, 421].includes(status)]).toEqual([target, true])
  }
  const own = `GET http://localhost:${port}/api/teams HTTP/1.1`
  expect((await send([own, `Host: localhost:${port}`, `Authorization: Bearer ${ada.token}`])).status).toBe(200)
  expect((await send([own, 'Host: evil.example'])).status).toBe(421)
})

it('the server checks the authority of HTTP/2, and an additional host header', async () => {
  const ask = async (headers: Record<string, string>) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': '/api/teams', authorization: `Bearer ${ada.token}`, ...headers })
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
    stream.resume()
    session.close()
    return answer[':status']
  }
  expect(await ask({ ':authority': `localhost:${port}` })).toBe(200)
  expect(await ask({ ':authority': 'evil.example' })).toBe(421)
  expect(await ask({ ':authority': `localhost:${port}`, host: 'evil.example' })).toBe(421)
})

it("the server accepts an agent's call under any name: its calls carry a token and never a cookie", async () => {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const stream = session.request({
    ':method': 'POST',
    ':path': '/crux.agent.v1.AgentService/Connect',
    ':authority': `host.docker.internal:${port}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.end()
  const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
  expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '16' })
  session.close()
})

it('the server opens no live channel for another host', async () => {
  const open = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/api`, {
        headers: { host, authorization: `Bearer ${ada.token}` },
      })
      socket.on('open', () => {
        socket.close()
        resolve(101)
      })
      socket.on('unexpected-response', (_request, answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      socket.on('error', reject)
    })
  expect(await open(`localhost:${port}`)).toBe(101)
  expect(await open('evil.example')).toBe(421)
})

it('the server accepts a forwarded host only from a trusted proxy, and of several the one that the proxy itself wrote', async () => {
  const ask = async (server: TestServer, forwarded: string) =>
    (await send(['GET /nowhere.txt HTTP/1.1', 'Host: crux:8000', `X-Forwarded-Host: ${forwarded}`], server)).status
  const url = 'https://crux.example.com'
  const direct = await startTestServer({ config: { url } })
  expect(await ask(direct, 'crux.example.com')).toBe(421)
  expect(await statusFor('crux.example.com', '/nowhere.txt', direct)).not.toBe(421)
  expect(await statusFor('crux.example.com:443', '/nowhere.txt', direct)).not.toBe(421)
  await direct.stop()
  const behind = await startTestServer({ config: { url, trustedProxies: ['127.0.0.1'] } })
  expect(await ask(behind, 'crux.example.com')).not.toBe(421)
  expect(await ask(behind, 'evil.example, crux.example.com')).not.toBe(421)
  expect(await ask(behind, 'crux.example.com, evil.example')).toBe(421)
  expect(await ask(behind, 'evil.example')).toBe(421)
  await behind.stop()
})
