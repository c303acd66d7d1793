import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

const proxySecret = 'a secret that both know'

type Seen = { method: string | undefined; url: string | undefined; address: unknown; body: string }

let seen: Seen[] = []
let secrets: unknown[] = []
let service: Server
let crux: TestServer
beforeAll(async () => {
  service = createServer(async (request: IncomingMessage, response) => {
    const { method, url, headers } = request
    const arrived = { method, url, address: headers['x-forwarded-for'], body: await text(request) }
    seen.push(arrived)
    secrets.push(headers['x-crux-proxy-secret'])
    response.end(JSON.stringify(arrived))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  crux = await startTestServer({
    config: { identityPublicUrl: `http://127.0.0.1:${port}`, identityProxySecret: proxySecret },
  })
})
beforeEach(() => {
  seen = []
  secrets = []
})
afterAll(async () => {
  await crux.stop()
  service.close()
})

/** Sends it on a new connection, and reads until the server closes it. */
async function say(request: string): Promise<string> {
  const socket = connect(Number(new URL(crux.url).port), '127.0.0.1')
  socket.write(request)
  return text(socket)
}

const hidden = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.66\r\n\r\n'

it.each(['GET', 'DELETE', 'OPTIONS', 'POST', 'PATCH'])(
  'the proxy forwards the body of a %s as a body, with any framing, and never as a separate request',
  async (method) => {
    const chunks = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
    const framings = [
      `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}`,
      `Content-Length: ${hidden.length}\r\nConnection: close\r\n\r\n${hidden}`,
      // A header that is named in Connection is removed from the message.
      `Content-Length: ${hidden.length}\r\nConnection: close, content-length\r\n\r\n${hidden}`,
    ]
    for (const framing of framings) {
      const answer = await say(`${method} /kratos/sessions HTTP/1.1\r\nHost: ${new URL(crux.url).host}\r\n${framing}`)
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    }
    const one = { method, url: '/sessions', address: '127.0.0.1', body: hidden }
    expect(seen).toEqual([one, one, one])
  },
)

it.each(['GET', 'DELETE', 'POST'])('the proxy forwards a %s of HTTP/2, with a body and without', async (method) => {
  const session = connectHttp2(crux.url)
  for (const body of ['', hidden]) {
    const stream = session.request({ ':method': method, ':path': '/kratos/sessions' }, { endStream: body === '' })
    if (body !== '') stream.end(body)
    expect(JSON.parse(await text(stream))).toMatchObject({ method, url: '/sessions', body })
  }
  session.close()
  await until(() => session.destroyed)
  expect(seen).toHaveLength(2)
})

it('the proxy sends its own secret, whatever a client sends in its place', async () => {
  await fetch(`${crux.url}/kratos/sessions`)
  await fetch(`${crux.url}/kratos/sessions`, { headers: { 'x-crux-proxy-secret': 'made up' } })
  expect(secrets).toEqual([proxySecret, proxySecret])
})
