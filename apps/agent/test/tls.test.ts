import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { spawnAgent, waitUntil } from './kit/index.ts'

/**
 * An attacker between the agent and Crux: each server here records what it could read of what the agent sent. The agent is a process of its
 * own, because its environment sets which authorities it trusts.
 */
const token = `crux_${'s'.repeat(43)}`
const environment = { ...process.env }
let dir: string
let stop: (() => Promise<void>)[] = []

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' })
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

function makeAuthority(name: string) {
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
  )
}

function makeCertificate(name: string, authority: string, altName: string, days = '1') {
  openssl(
    ...['req', '-x509', ...newKey, '-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-days', days],
    ...['-subj', '/CN=crux', '-addext', `subjectAltName=${altName}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', `${name}.key`, '-out', `${name}.pem`],
  )
}
const pair = (name: string) => ({
  key: readFileSync(join(dir, `${name}.key`)),
  cert: readFileSync(join(dir, `${name}.pem`)),
})

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'crux-agent-tls-'))
  makeAuthority('authority')
  makeAuthority('stranger')
  makeCertificate('good', 'authority', 'DNS:localhost')
  makeCertificate('untrusted', 'stranger', 'DNS:localhost')
  makeCertificate('other-host', 'authority', 'DNS:crux.example.com')
})
afterEach(async () => {
  for (const one of stop.toReversed()) await one()
  stop = []
  process.env = { ...environment }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  stop.push(async () => void server.close())
  return (server.address() as AddressInfo).port
}

/** A TLS server that records everything it can decrypt, and counts connection attempts. */
async function recordTls(options: TlsOptions) {
  const seen = { text: '', attempts: 0, handshakes: 0 }
  const server = createTlsServer({ ALPNProtocols: ['h2'], ...options }, (socket) => {
    seen.handshakes++
    socket.on('data', (chunk) => (seen.text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
  })
  server.on('connection', () => seen.attempts++)
  server.on('tlsClientError', () => undefined)
  return { seen, url: `https://localhost:${await listen(server)}` }
}

/** Records unencrypted data, including the handshake. */
async function recordPlain(answer: (head: string) => string | undefined) {
  const seen = { text: '', attempts: 0 }
  const server = createServer((socket) => {
    seen.attempts++
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      seen.text += chunk.toString('latin1')
      const words = answer(seen.text)
      if (words !== undefined) socket.end(words)
    })
  })
  return { seen, url: `http://localhost:${await listen(server)}` }
}

function startAgent(url: string, env: Record<string, string> = {}) {
  // The environment that the agent inherits; spawnAgent sets the rest.
  process.env = { ...environment, NODE_EXTRA_CA_CERTS: join(dir, 'authority.pem'), ...env }
  const dataDir = mkdtempSync(join(dir, 'data-'))
  const agent = spawnAgent({ url } as never, { dataDir, token, nodeId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e' })
  stop.push(async () => {
    agent.child.kill('SIGKILL')
    await agent.exited
  })
  return agent
}

test('the agent sends its token to a server whose certificate a trusted authority signed for the configured host', async () => {
  const { promise: shown, resolve } = Promise.withResolvers<unknown>()
  const server = createSecureServer(pair('good'), (request, response) => {
    resolve(request.headers.authorization)
    response.end()
  })
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening))
  stop.push(async () => void server.close())
  startAgent(`https://localhost:${(server.address() as AddressInfo).port}`)
  expect(await shown).toBe(`Bearer ${token}`)
})

const refusals: {
  what: string
  certificate: string
  tls?: TlsOptions
  env?: Record<string, string>
  reason: RegExp
}[] = [
  {
    what: 'a certificate of an authority that it does not know',
    certificate: 'untrusted',
    reason: /unable to (verify|get)/i,
  },
  { what: 'a certificate for another host', certificate: 'other-host', reason: /does not match|altnames/i },
  {
    what: 'a server that offers TLS 1.1 at most',
    certificate: 'good',
    tls: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    reason: /version|protocol|alert/i,
  },
]
const foolish = { CRUX_INSECURE: 'true', NODE_TLS_REJECT_UNAUTHORIZED: '0' }

for (const { what, certificate, tls, reason } of refusals)
  test.each([
    ['as it is installed', {}],
    ['with CRUX_INSECURE and NODE_TLS_REJECT_UNAUTHORIZED=0, which concern plain text and other programs', foolish],
  ])(
    `the agent sends nothing to ${what} and reports why it cannot connect (%s)`,
    async (_, env) => {
      const { seen, url } = await recordTls({ ...pair(certificate), ...tls })
      const agent = startAgent(url, env)
      await waitUntil('the agent has tried twice', () => seen.attempts >= 2, 30_000)
      await waitUntil('the reason is in its log', () => reason.test(agent.output()))
      expect(agent.output()).toContain('cannot connect, trying again')
      expect(agent.child.exitCode).toBeNull()
      expect(seen.text).toBe('')
      expect(agent.output()).not.toContain(token)
    },
    60_000,
  )

test('the agent sends no token in plain text to a host without TLS, not even after a redirect or with CRUX_INSECURE', async () => {
  const plain = await recordPlain(
    () => 'HTTP/1.1 301 Moved\r\nLocation: http://localhost/\r\nContent-Length: 0\r\n\r\n',
  )
  const agent = startAgent(plain.url.replace('http:', 'https:'), foolish)
  await waitUntil('the agent has tried twice', () => plain.seen.attempts >= 2, 30_000)
  await waitUntil('it says so', () => agent.output().includes('cannot connect, trying again'))
  // Every attempt starts with a TLS handshake (0x16), and nothing else was sent.
  expect(plain.seen.text.charCodeAt(0)).toBe(0x16)
  expect(plain.seen.text).not.toContain(token)
  expect(plain.seen.text).not.toContain('PRI * HTTP/2.0')
})

test('the agent follows no redirect of a verified server to another address', async () => {
  const elsewhere = await recordPlain(() => undefined)
  let asked = 0
  const server = createSecureServer(pair('good'), (_request, response) => {
    asked++
    response.writeHead(307, { location: `${elsewhere.url}/crux.agent.v1.AgentService/Exchange` }).end()
  })
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening))
  stop.push(async () => void server.close())
  startAgent(`https://localhost:${(server.address() as AddressInfo).port}`)
  await waitUntil('the agent has asked twice', () => asked >= 2, 30_000)
  expect(elsewhere.seen.attempts).toBe(0)
})

test('the agent does not start with a plain http address of another machine', async () => {
  const agent = startAgent('http://crux.example.com')
  expect(await agent.exited).toMatchObject({ code: 1 })
  expect(agent.output()).toContain('would send the token in plain text')
})
