import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createLogger } from '../logger.ts'
import { createOutbound } from './client.ts'

const log = createLogger({ name: 'test', level: 'silent' })
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<{ port: number; url: string }> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return { port, url: `http://${host}:${port}` }
}

const makeOutbound = (options: Partial<Parameters<typeof createOutbound>[0]> = {}) =>
  createOutbound({ allow: 'private', refusedPorts: [], log, ...options })

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  )

describe('createOutbound', () => {
  test('answers with status, headers and body, and sends what it was given', async () => {
    const { url } = await serve((request, response) => {
      response.setHeader(
        'x-seen',
        `${request.method} ${request.headers['x-mine']} ${request.headers['accept-encoding']}`,
      )
      request.pipe(response.writeHead(201))
    })
    const answer = await makeOutbound().request(url, { method: 'POST', headers: { 'x-mine': 'a' }, body: 'hello' })
    expect(answer).toMatchObject({ status: 201, headers: { 'x-seen': 'POST a identity' } })
    expect(answer.body.toString()).toBe('hello')
  })

  test('refuses loopback and private addresses that are not listed, before it connects', async () => {
    let connections = 0
    const { url, port } = await serve((_, response) => {
      connections++
      response.end()
    })
    expect(await codeOf(makeOutbound({ allow: [] }).request(url))).toBe('refused')
    expect(await codeOf(makeOutbound({ allow: ['10.0.0.0/8'] }).request(url))).toBe('refused')
    expect(await codeOf(makeOutbound({ allow: [] }).request(`http://2130706433:${port}`))).toBe('refused')
    expect(await codeOf(makeOutbound({ allow: [] }).request(`http://[::ffff:127.0.0.1]:${port}`))).toBe('refused')
    expect(connections).toBe(0)
    expect(await codeOf(makeOutbound({ allow: ['127.0.0.0/8'] }).request(url))).toBe('answered')
  })

  test('refuses link-local and metadata addresses whatever is allowed', async () => {
    const outbound = makeOutbound({ allow: 'private' })
    expect(await codeOf(outbound.request('http://169.254.169.254/latest'))).toBe('refused')
    expect(await codeOf(makeOutbound({ allow: ['169.254.0.0/16'] }).request('http://169.254.169.254/'))).toBe('refused')
    expect(await codeOf(outbound.request('http://[fe80::1]/'))).toBe('refused')
  })

  test('refuses a name as a whole when one of its addresses is forbidden', async () => {
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 as const },
      { address: '169.254.169.254', family: 4 as const },
    ]
    expect(await codeOf(makeOutbound({ resolve }).request('http://mixed.example/'))).toBe('refused')
  })

  test('refuses our own ports on every address of this machine', async () => {
    const { url, port } = await serve((_, response) => response.end())
    const outbound = makeOutbound({ refusedPorts: [port] })
    expect(await codeOf(outbound.request(url))).toBe('refused')
    expect(await codeOf(outbound.request(`http://localhost:${port}`))).toBe('refused')
    expect(await codeOf(outbound.request(`http://[::ffff:127.0.0.1]:${port}`))).toBe('refused')
  })

  test('connects to the judged addresses, all of them, and never resolves again', async () => {
    const { port } = await serve((_, response) => response.end('here'))
    let lookups = 0
    const resolve = async () => {
      lookups++
      return [
        { address: '127.0.0.2', family: 4 as const },
        { address: '127.0.0.1', family: 4 as const },
      ]
    }
    const answer = await makeOutbound({ resolve }).request(`http://registry.example:${port}/`)
    expect(answer.body.toString()).toBe('here')
    expect(lookups).toBe(1)
  })

  test('judges the target of each redirect anew and keeps credentials with their origin', async () => {
    const seen: (string | undefined)[] = []
    const second = await serve((request, response) => {
      seen.push(request.headers.authorization)
      response.end('second')
    })
    const first = await serve((request, response) => {
      seen.push(request.headers.authorization)
      const to =
        request.url === '/meta' ? 'http://169.254.169.254/' : request.url === '/own' ? '/meta' : `${second.url}/`
      response.writeHead(307, { location: to }).end()
    })
    const outbound = makeOutbound()
    const headers = { authorization: 'Bearer mine' }
    expect((await outbound.request(`${first.url}/`, { headers, redirects: 2 })).body.toString()).toBe('second')
    expect(seen).toEqual(['Bearer mine', undefined])
    expect(await codeOf(outbound.request(`${first.url}/meta`, { redirects: 2 }))).toBe('refused')
    expect(await codeOf(outbound.request(`${first.url}/own`, { redirects: 1 }))).toBe('redirects')
    expect((await outbound.request(`${first.url}/`)).status).toBe(307)
  })

  test('turns a redirected POST into a GET without body, as 303 demands', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/') response.writeHead(303, { location: '/next' }).end()
      else response.end(`${request.method} ${request.headers['content-type']}`)
    })
    const answer = await makeOutbound().request(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
      redirects: 1,
    })
    expect(answer.body.toString()).toBe('GET undefined')
  })

  test('gives up on long bodies and slow answers', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/slow') return
      response.write(Buffer.alloc(2_000))
      if (request.url === '/long') response.end(Buffer.alloc(2_000))
    })
    const outbound = makeOutbound()
    expect(await codeOf(outbound.request(`${url}/long`, { maxBytes: 3_000 }))).toBe('tooLarge')
    expect(await codeOf(outbound.request(`${url}/slow`, { timeoutMs: 100 }))).toBe('timeout')
    expect(await codeOf(outbound.request(`${url}/drip`, { timeoutMs: 100 }))).toBe('timeout')
  })

  test('tells apart what cannot be asked, found, reached or trusted', async () => {
    const { port, url } = await serve((_, response) => response.end())
    const outbound = makeOutbound()
    expect(await codeOf(outbound.request('ftp://example.com'))).toBe('invalidUrl')
    expect(await codeOf(outbound.request('http://user:pass@example.com'))).toBe('invalidUrl')
    expect(await codeOf(outbound.request('http://does-not-exist.invalid'))).toBe('unresolved')
    expect(await codeOf(outbound.request('http://127.0.0.1:1'))).toBe('unreachable')
    await expect(outbound.request('http://127.0.0.1:1')).rejects.toThrow(
      '127.0.0.1:1 cannot be reached (connection refused)',
    )
    expect(await codeOf(outbound.request(`https://127.0.0.1:${port}`))).toBe('tls')
    expect(await codeOf(outbound.request(url))).toBe('answered')
  })
})
