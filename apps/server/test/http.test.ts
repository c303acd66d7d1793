import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contract, type EndpointSpec, type Operation } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from './kit/index.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
let directory: string
let kratos: Server
const seen: { url: string; headers: IncomingHttpHeaders; body: string }[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'crux-console-'))
  mkdirSync(join(directory, 'assets'))
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Crux</title>')
  writeFileSync(join(directory, 'start.js'), 'theme()')
  writeFileSync(join(directory, 'assets/main-a1b2c3d4.js'), 'main()')
  writeFileSync(join(directory, 'assets/main-a1b2c3d4.js.gz'), 'zipped')
  kratos = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({ url: request.url ?? '', headers: request.headers, body })
    response.writeHead(request.url === '/redirect' ? 303 : 200, {
      'set-cookie': ['a=1; Path=/; HttpOnly', 'b=2; Path=/'],
      location: 'http://localhost/next',
      'content-type': 'text/plain',
    })
    response.end(`answer to ${request.url}`)
  })
  await new Promise<void>((resolve) => kratos.listen(0, '127.0.0.1', resolve))
  crux = await startTestServer({
    config: { identityPublicUrl: `http://127.0.0.1:${(kratos.address() as AddressInfo).port}` },
    overrides: { consoleDirectory: directory },
  })
  ada = crux.signUp('Ada')
  team = await crux.createTeam(ada)
})
afterAll(async () => {
  await crux.stop()
  kratos.closeAllConnections()
  await new Promise((resolve) => kratos.close(resolve))
  rmSync(directory, { recursive: true })
})

const withBody = (Object.keys(contract) as Operation[]).filter((operation) => {
  const { body, permission }: EndpointSpec = contract[operation]
  // A registry's hook checks its token before it reads anything; its own test covers this.
  return body && !['public', 'registry-hook', 'pipeline-hook'].includes(permission)
})
const toPath = (operation: Operation) =>
  contract[operation].path
    .replace(':teamSlug', team.slug)
    .replace(':teamId', team.id)
    .replace(':revision', '1')
    .replace(':number', '1')
    .replace(/:\w+/g, '01a1fe69-35bc-702a-a798-000000000000')
const send = (operation: Operation, body: string | Uint8Array | undefined, headers: Record<string, string> = {}) =>
  crux.request(toPath(operation), {
    method: contract[operation].method,
    as: ada,
    body: body as string,
    headers: { 'content-type': 'application/json', ...headers },
  })

describe('request bodies', () => {
  const malformed = [
    '{',
    '[1,',
    '"text',
    'null',
    '0',
    '[]',
    '"text"',
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{}}}',
    '\u0000',
    '{"a":'.repeat(5_000),
  ]
  it.each(withBody)(
    'of %s that are malformed are 400, 404 or 412 in the form of every error, never 500',
    async (operation) => {
      for (const body of malformed) {
        const answer = await send(operation, body)
        const said = (await answer.json()) as Record<string, unknown>
        expect([body.slice(0, 30), answer.status, said]).toMatchObject([
          body.slice(0, 30),
          expect.toSatisfy((status: number) => [400, 404, 412].includes(status)),
          {
            status: answer.status,
            error: expect.any(String),
            description: expect.any(String),
            requestId: expect.any(String),
          },
        ])
      }
    },
  )

  it.each(withBody)('of %s that are empty or not JSON are refused with a clear error', async (operation) => {
    const empty = await send(operation, undefined)
    const optional = (contract[operation] as EndpointSpec).body?.safeParse(undefined).success
    expect(empty.status).toBe(optional ? 404 : 400)
    const form = await send(operation, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' })
    expect([form.status, await form.json()]).toMatchObject([415, { error: 'unsupportedMediaType' }])
  })

  it('that are too large are refused before they are read', async () => {
    const answer = await send('projects.create', JSON.stringify({ name: 'x'.repeat(1_100_000), type: 'versioned' }))
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: 'payloadTooLarge' }])
  })

  it('of unauthenticated clients are not read at all', async () => {
    const answer = await crux.request(`/api/${team.slug}/projects`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(401)
  })

  it.each([
    { name: 'nul \u0000 byte', type: 'versioned' },
    { name: 'lone \ud800 half', type: 'versioned' },
  ])('with characters that cannot be stored are 400 or stored, never 500', async (body) => {
    const answer = await send('projects.create', JSON.stringify(body))
    expect([201, 400]).toContain(answer.status)
  })
})

describe('a change with a cookie', () => {
  const create = (headers: Record<string, string>) =>
    crux.request(`/api/users/me/preferences/onboarding`, {
      method: 'PUT',
      headers: { cookie: `ory_kratos_session=${ada.token}`, ...headers },
    })

  it('is refused when the browser names another site, and accepted when it names ours or none', async () => {
    const { port } = crux.server
    expect((await create({})).status).toBe(204)
    expect((await create({ origin: crux.url, 'sec-fetch-site': 'same-origin' })).status).toBe(204)
    expect((await create({ origin: `http://[::1]:${port}` })).status).toBe(204)
    expect((await create({ 'sec-fetch-site': 'none' })).status).toBe(204)
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost:${port + 1}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const answer = await create(headers)
      expect([headers, answer.status, await answer.json()]).toMatchObject([headers, 403, { property: 'origin' }])
    }
  })
})

describe('the one port', () => {
  it('sends strict headers with every response', async () => {
    for (const path of ['/', '/api/teams', '/health', '/nowhere.txt']) {
      const { headers } = await crux.request(path)
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('content-security-policy')).toMatch(/script-src 'self'(;|$)/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,64}$/)
    }
  })

  it('refuses a malformed address like every bad request', async () => {
    const answer = await new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }>(
      (resolve, reject) => {
        request(crux.url, { path: '/api/%zz/nodes' }, (incoming) => {
          let body = ''
          incoming.on('data', (part) => {
            body += String(part)
          })
          incoming.on('end', () => resolve({ status: incoming.statusCode, headers: incoming.headers, body }))
        })
          .on('error', reject)
          .end()
      },
    )
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { status: 400, error: 'invalidArgument' }])
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
  })

  it('serves the console, its pages by name, and hashed files as immutable', async () => {
    for (const path of ['/', '/teams', `/${team.slug}/projects/x.y`]) {
      const page = await crux.request(path)
      expect([page.status, page.headers.get('cache-control'), await page.text()]).toEqual([
        200,
        'no-cache',
        expect.stringContaining('Crux'),
      ])
    }
    const asset = await crux.request('/assets/main-a1b2c3d4.js', { headers: { 'accept-encoding': 'identity' } })
    expect([asset.headers.get('cache-control'), await asset.text()]).toEqual([
      'public, max-age=31536000, immutable',
      'main()',
    ])
    expect((await crux.request('/start.js')).headers.get('cache-control')).toBe('no-cache')
    for (const path of ['/%00', '/assets/%00.js', '/assets//main-a1b2c3d4.js'])
      expect([path, (await crux.request(path)).status]).toEqual([path, 404])
    for (const path of ['/assets/none.js', '/api/none', '/../package.json', '/%2e%2e/%2e%2e/etc/passwd']) {
      const answer = await crux.request(path)
      expect([path, await answer.text()]).toEqual([path, expect.not.stringMatching(/root:|"name"/)])
    }
    expect((await crux.request('/api/none')).status).toBe(404)
  })

  it('proxies /kratos to the identity service: prefix removed, body and cookies kept, admin paths not found', async () => {
    seen.length = 0
    const answer = await crux.request('/kratos/self-service/login?flow=1', {
      method: 'POST',
      body: 'identifier=a&password=b',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: 'csrf=1', 'x-forwarded-for': '6.6.6.6' },
    })
    expect([answer.status, await answer.text(), answer.headers.getSetCookie()]).toEqual([
      200,
      'answer to /self-service/login?flow=1',
      ['a=1; Path=/; HttpOnly', 'b=2; Path=/'],
    ])
    expect(seen).toMatchObject([
      {
        url: '/self-service/login?flow=1',
        body: 'identifier=a&password=b',
        headers: { cookie: 'csrf=1', 'x-forwarded-for': '127.0.0.1' },
      },
    ])
    const redirect = await crux.request('/kratos/redirect', { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([303, 'http://localhost/next'])
    seen.length = 0
    for (const path of [
      '/kratos/admin/identities',
      '/kratos//admin',
      '/kratos/%61dmin/x',
      '/kratos/%2561dmin',
      '/kratos/x/../admin',
      '/kratos/x/..%2fadmin',
      '/kratos/identities',
      '/kratos/ADMIN',
      '/kratos/%zz',
    ]) {
      const status = await rawStatus(crux.server.port, path)
      expect([path, [400, 404].includes(status)]).toEqual([path, true])
    }
    expect(seen).toEqual([])
  })

  it('speaks HTTP/2 without TLS beside HTTP/1.1', async () => {
    const session = connectHttp2(crux.url)
    const stream = session.request({ ':path': '/api/teams', authorization: `Bearer ${ada.token}` })
    let text = ''
    stream.on('data', (chunk) => {
      text += String(chunk)
    })
    await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject))
    expect(JSON.parse(text)).toMatchObject([{ id: team.id }])
    session.close()
  })

  it('answers a first line that arrives byte by byte, and malformed input with 400', async () => {
    const socket = connect(crux.server.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    for (const byte of `PUT /health HTTP/1.1\r\nhost: ${new URL(crux.url).host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`) {
      socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await new Promise((resolve) => socket.on('close', resolve))
    expect(text).toMatch(/^HTTP\/1.1 404/)
    expect(await rawStatus(crux.server.port, '/a b c')).toBe(400)
  })

  it('serves metrics only to the machine itself, or with the token', async () => {
    expect((await crux.request('/metrics')).status).toBe(200)
    expect((await crux.request('/metrics', { headers: { 'x-forwarded-for': '1.2.3.4' } })).status).toBe(403)
    const guarded = await startTestServer({ config: { metricsToken: 'metrics-token-of-16' } })
    expect((await guarded.request('/metrics')).status).toBe(401)
    const answer = await guarded.request('/metrics', { headers: { authorization: 'Bearer metrics-token-of-16' } })
    expect(await answer.text()).toContain('crux_http_request_duration_seconds')
    await guarded.stop()
  })

  it('reports that it is alive and ready, and describes its API', async () => {
    for (const path of ['/health', '/health/ready', '/api/health'])
      expect(await (await crux.request(path)).json()).toMatchObject({
        status: 'operational',
        version: expect.any(String),
      })
    const document = (await (await crux.request('/api/openapi.json')).json()) as { paths: Record<string, unknown> }
    expect(Object.keys(document.paths).length).toBe(new Set(Object.values(contract).map((row) => row.path)).size)
    for (const path of ['/api/swagger', '/basics/api']) {
      const page = await crux.request(path)
      expect(await page.text()).toContain('/api/{teamSlug}/deployments/{deploymentId}/start')
      expect(page.headers.get('content-type')).toContain('text/html')
    }
    await expect(
      crux.client(ada).call('teams.create', { body: { name: 'Basics', slug: 'basics' } }),
    ).rejects.toMatchObject({ status: 400, property: 'slug' })
  })
})

it('stops despite an idle connection, and finishes open requests', async () => {
  const stopping = await startTestServer()
  const someone = stopping.signUp()
  const idle = connect(stopping.server.port, '127.0.0.1')
  // The connection is destroyed, not closed gracefully: it had no request.
  idle.on('error', () => undefined)
  const dropped = new Promise((resolve) => idle.on('close', resolve))
  await new Promise((resolve) => idle.on('connect', resolve))
  const body = JSON.stringify({ name: 'Under way', slug: 'under-way' })
  const busy = connect(stopping.server.port, '127.0.0.1')
  let answer = ''
  busy.on('data', (chunk) => {
    answer += String(chunk)
  })
  const answered = new Promise((resolve) => busy.on('close', resolve))
  busy.write(
    `POST /api/teams HTTP/1.1\r\nhost: ${new URL(stopping.url).host}\r\nauthorization: Bearer ${someone.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  // The server has started to serve the request when it asks for the body.
  await vi.waitFor(() => expect(answer).toContain('100 Continue'), 10_000)
  const stopped = stopping.stop()
  await dropped
  busy.write(body)
  await answered
  await stopped
  expect(answer).toContain('HTTP/1.1 201')
})

const rawStatus = (port: number, path: string) =>
  new Promise<number>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n\r\n`),
    )
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0)))
  })
