import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startTestServer, type TestServer } from './kit/index.ts'

let crux: TestServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crux-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  )
  crux = await startTestServer({
    config: { tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }, url: 'https://localhost:0' },
  })
})
afterAll(async () => {
  await crux?.stop()
  rmSync(folder, { recursive: true })
})

it('speaks HTTP/1.1, HTTP/2 and WebSocket over TLS on the one port', async () => {
  const someone = crux.people.signUp()
  const headers = { authorization: `Bearer ${someone.token}` }
  expect(crux.url).toBe(`https://localhost:${crux.server.port}`)
  const one = await new Promise<{ status: number | undefined; hsts: unknown }>((resolve, reject) =>
    get(`${crux.url}/api/teams`, { headers, rejectUnauthorized: false }, (answer) => {
      answer.resume()
      resolve({ status: answer.statusCode, hsts: answer.headers['strict-transport-security'] })
    }).on('error', reject),
  )
  expect(one).toEqual({ status: 200, hsts: expect.stringContaining('max-age') })

  const session = connect(crux.url, { rejectUnauthorized: false })
  const stream = session.request({
    ':method': 'POST',
    ':path': '/api/teams',
    'content-type': 'application/json',
    ...headers,
  })
  stream.end(JSON.stringify({ name: 'Over two', slug: 'over-two' }))
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (answer) => resolve(answer[':status']))
    stream.on('error', reject)
  })
  expect(status).toBe(201)
  session.destroy()

  const socket = new WebSocket(`${crux.url.replace('https', 'wss')}/api`, { headers, rejectUnauthorized: false })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  socket.close()
})
