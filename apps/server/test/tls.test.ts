import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startTestServer, type TestServer, until } from './kit/index.ts'

let crux: TestServer
let directory: string

const makeCertificate = (key: string, cert: string) =>
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  )

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'crux-tls-'))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  makeCertificate(key, cert)
  crux = await startTestServer({
    config: { tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }, url: 'https://localhost:0' },
  })
})
afterAll(async () => {
  await crux?.stop()
  rmSync(directory, { recursive: true })
})

it('the one port speaks HTTP/1.1, HTTP/2 and WebSocket over TLS', async () => {
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

it('the server uses a renewed certificate for new connections, and keeps the last one while the new pair does not match', async () => {
  const [cert, key] = [join(directory, 'renewed.pem'), join(directory, 'renewed-key.pem')]
  makeCertificate(key, cert)
  const files = { cert, key }
  const read = () => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') })
  const warnings: string[] = []
  const server = await startTestServer({
    config: { tls: { ...read(), files }, url: 'https://localhost:0' },
    overrides: {
      log: createLogger({ name: 'test', level: 'warn', destination: { write: (line) => void warnings.push(line) } }),
    },
  })
  const presented = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port: server.server.port, rejectUnauthorized: false }, () => {
        resolve(new X509Certificate(socket.getPeerCertificate().raw).fingerprint256)
        socket.destroy()
      }).on('error', reject)
    })
  const fingerprint = () => new X509Certificate(readFileSync(cert)).fingerprint256
  const first = fingerprint()
  expect(await presented()).toBe(first)
  const lasting = connect(server.url, { rejectUnauthorized: false })
  await once(lasting, 'connect')

  const [newCert, newKey] = [join(directory, 'new.pem'), join(directory, 'new-key.pem')]
  makeCertificate(newKey, newCert)
  // The certificate is replaced before its key: for a while they do not match.
  renameSync(newCert, cert)
  await until(() => warnings.some((line) => line.includes('cannot be used')), 30_000)
  expect(await presented()).toBe(first)
  renameSync(newKey, key)
  await until(async () => (await presented()) === fingerprint(), 30_000)
  expect(lasting.closed).toBe(false)
  lasting.destroy()
  await server.stop()
})
