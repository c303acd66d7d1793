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

const getCode = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  )

describe('createOutbound', () => {
  test('returns status, headers and body, and sends method, headers and body of the request', async () => {
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
    expect(await getCode(makeOutbound({ allow: [] }).request(url))).toBe('refused')
    expect(await getCode(makeOutbound({ allow: ['10.0.0.0/8'] }).request(url))).toBe('refused')
    expect(await getCode(makeOutbound({ allow: [] }).request(`http://2130706433:${port}`))).toBe('refused')
    expect(await getCode(makeOutbound({ allow: [] }).request(`http://[::ffff:127.0.0.1]:${port}`))).toBe('refused')
    expect(connections).toBe(0)
    expect(await getCode(makeOutbound({ allow: ['127.0.0.0/8'] }).request(url))).toBe('answered')
  })

  test('refuses link-local and metadata addresses with any configuration', async () => {
    const outbound = makeOutbound({ allow: 'private' })
    expect(await getCode(outbound.request('http://169.254.169.254/latest'))).toBe('refused')
    expect(await getCode(makeOutbound({ allow: ['169.254.0.0/16'] }).request('http://169.254.169.254/'))).toBe(
      'refused',
    )
    expect(await getCode(outbound.request('http://[fe80::1]/'))).toBe('refused')
  })

  test('refuses a name completely when one of its addresses is forbidden', async () => {
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 as const },
      { address: '169.254.169.254', family: 4 as const },
    ]
    expect(await getCode(makeOutbound({ resolve }).request('http://mixed.example/'))).toBe('refused')
  })

  test('refuses the ports of Crux on every address of this machine', async () => {
    const { url, port } = await serve((_, response) => response.end())
    const outbound = makeOutbound({ refusedPorts: [port] })
    expect(await getCode(outbound.request(url))).toBe('refused')
    expect(await getCode(outbound.request(`http://localhost:${port}`))).toBe('refused')
    expect(await getCode(outbound.request(`http://[::ffff:127.0.0.1]:${port}`))).toBe('refused')
  })

  test('connects only to the checked addresses, and does not resolve the name again', async () => {
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

  test('checks the target of each redirect and sends credentials only to their origin', async () => {
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
    expect(await getCode(outbound.request(`${first.url}/meta`, { redirects: 2 }))).toBe('refused')
    expect(await getCode(outbound.request(`${first.url}/own`, { redirects: 1 }))).toBe('redirects')
    expect((await outbound.request(`${first.url}/`)).status).toBe(307)
  })

  test('converts a redirected POST to a GET without a body, as 303 requires', async () => {
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

  test('ends requests with long bodies and slow answers', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/slow') return
      response.write(Buffer.alloc(2_000))
      if (request.url === '/long') response.end(Buffer.alloc(2_000))
    })
    const outbound = makeOutbound()
    expect(await getCode(outbound.request(`${url}/long`, { maxBytes: 3_000 }))).toBe('tooLarge')
    expect(await getCode(outbound.request(`${url}/slow`, { timeoutMs: 100 }))).toBe('timeout')
    expect(await getCode(outbound.request(`${url}/drip`, { timeoutMs: 100 }))).toBe('timeout')
  })

  test('distinguishes addresses that are forbidden, unknown, unreachable or untrusted', async () => {
    const { port, url } = await serve((_, response) => response.end())
    const outbound = makeOutbound()
    expect(await getCode(outbound.request('ftp://example.com'))).toBe('invalidUrl')
    expect(await getCode(outbound.request('http://user:pass@example.com'))).toBe('invalidUrl')
    expect(await getCode(outbound.request('http://does-not-exist.invalid'))).toBe('unresolved')
    expect(await getCode(outbound.request('http://127.0.0.1:1'))).toBe('unreachable')
    await expect(outbound.request('http://127.0.0.1:1')).rejects.toThrow(
      '127.0.0.1:1 cannot be reached (connection refused)',
    )
    expect(await getCode(outbound.request(`https://127.0.0.1:${port}`))).toBe('tls')
    expect(await getCode(outbound.request(url))).toBe('answered')
  })
})
