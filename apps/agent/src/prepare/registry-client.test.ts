import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { RegistryClient } from './registry-client.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { url: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', authorization: request.headers.authorization })
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return { port: typeof address === 'object' ? address?.port : 0, requests }
}

async function get(host: string, password?: string): Promise<string> {
  const auth = password === undefined ? undefined : { serverAddress: host, username: 'user', password }
  const client = new RegistryClient(`${host}/app`, auth, AbortSignal.timeout(10_000))
  closing.push(() => client.close())
  return text(await client.get('blobs/x', '*/*', 'a layer'))
}

test('credentials are given to the registry where it asks for them, and to no place that it leads to', async () => {
  const other = await startServer((_, response) => response.end('content'))
  const registry = await startServer(({ headers }, response) => {
    if (!headers.authorization) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    else response.writeHead(307, { location: `http://127.0.0.1:${other.port}/place` }).end()
  })
  expect(await get(`localhost:${registry.port}`, 'not-the-token')).toBe('content')
  expect(registry.requests.map(({ authorization }) => authorization?.split(' ')[0])).toEqual([undefined, 'Basic'])
  expect(other.requests).toEqual([{ url: '/place', authorization: undefined }])
})

test('credentials are not sent to a token service of another site', async () => {
  const registry = await startServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="https://tokens.example.com/",service="x"' }).end(),
  )
  await expect(get(`localhost:${registry.port}`, 'not-the-token')).rejects.toThrow('which is another site')
})

test('a registry leads to no address that belongs to the machine or its cloud', async () => {
  const registry = await startServer((_, response) =>
    response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
  )
  await expect(get(`localhost:${registry.port}`)).rejects.toThrow('169.254.169.254 is not an address of a registry')
  await expect(get('169.254.169.254:443')).rejects.toThrow('is not an address of a registry')
})

test('a registry that leads in a circle, and one that refuses, are named', async () => {
  const circle = await startServer(({ url }, response) => response.writeHead(302, { location: url }).end())
  await expect(get(`localhost:${circle.port}`)).rejects.toThrow('leads nowhere')
  const closed = await startServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('not-the-token'),
  )
  await expect(get(`localhost:${closed.port}`, 'not-the-token')).rejects.toThrow(
    `the registry localhost:${closed.port} refuses a layer (401): check its credentials`,
  )
})
