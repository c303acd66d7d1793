import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { onUnhandledError, type UnhandledError } from '@crux/service-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { startProbes, toRequestPath } from './probes.ts'

const running = { state: 'running', hostNetwork: true } as ObservedContainer
const unhandled: UnhandledError[] = []
let unsubscribe: () => void
beforeEach(() => {
  unhandled.length = 0
  unsubscribe = onUnhandledError((error) => unhandled.push(error))
})
afterEach(() => unsubscribe())

/** A service that sends raw bytes, so that it can break every rule of HTTP. */
async function withRawService(
  serve: (socket: Socket, request: string) => void,
  use: (probes: ReturnType<typeof startProbes>, connections: () => number) => Promise<void>,
  path = '/',
): Promise<void> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (bytes) => serve(socket, String(bytes)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const probes = startProbes([{ port: (server.address() as AddressInfo).port, path }])
  try {
    probes.aim(running)
    await use(probes, () => connections)
  } finally {
    probes.close()
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
}

/** Writes until the peer stops reading. */
function flood(socket: Socket, first: string, chunk: string): void {
  socket.write(first)
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
}

describe('an invalid answer fails the attempt and another attempt follows', () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['bytes that are not HTTP', (socket) => socket.end('no HTTP at all\r\n\r\n'), /parse error/i],
    ['a connection that closes at once', (socket) => socket.destroy(), /socket hang up|closed|ECONNRESET/],
    [
      'headers without an end',
      (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', `a: ${'b'.repeat(4_000)}\r\n`),
      /overflow/i,
    ],
    [
      'a header with a control character',
      (socket) => socket.end('HTTP/1.1 200 OK\r\na: \u0001\u0000\r\n\r\n'),
      /parse error/i,
    ],
    [
      'two lengths',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx'),
      /parse error/i,
    ],
    ['an error status', (socket) => socket.end('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n'), /it answered 503/],
    [
      'a status that does not exist',
      (socket) => socket.end('HTTP/1.1 999 ?\r\ncontent-length: 0\r\n\r\n'),
      /it answered 999/,
    ],
    [
      'a change of the protocol',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      /closed|hang up/,
    ],
  ])('%s', async (_, serve, reason) => {
    await withRawService(serve, async (probes, connections) => {
      await expect.poll(() => probes.pending()?.lastFailure).toMatch(reason)
      await expect.poll(connections).toBeGreaterThan(1)
    })
    expect(unhandled).toEqual([])
  })

  test('a probe fails when the headers arrive one byte at a time', async () => {
    await withRawService(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        const timer = setInterval(() => socket.write('a'), 50)
        socket.on('close', () => clearInterval(timer))
      },
      async (probes, connections) => {
        await expect.poll(() => probes.pending()?.lastFailure).toBe('no answer in time')
        await expect.poll(connections).toBeGreaterThan(1)
      },
    )
    expect(unhandled).toEqual([])
  })
})

describe('a probe judges an answer by its status line', () => {
  test('a body without an end is cut off after 64 kB and the probe succeeds', async () => {
    let sent = 0
    const closed = Promise.withResolvers<void>()
    await withRawService(
      (socket) => {
        socket.on('close', closed.resolve)
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const write = () => {
          while (!socket.destroyed && sent < 1e9 && socket.write('x'.repeat(64_000))) sent += 64_000
        }
        socket.on('drain', write)
        write()
      },
      async (probes) => {
        await expect.poll(() => probes.pending()).toBeUndefined()
        await closed.promise
      },
    )
    expect(sent).toBeLessThan(100_000_000)
  })

  test('a redirect succeeds and is not followed', async () => {
    const seen: string[] = []
    await withRawService(
      (socket, request) => {
        seen.push(request.split(' ')[1] ?? '')
        socket.end('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n')
      },
      (probes) => expect.poll(() => probes.pending()).toBeUndefined(),
    )
    expect(seen).toEqual(['/'])
  })
})

test('any path of a stored release is converted to a valid request path', async () => {
  expect(toRequestPath('/日?a=ü b#c%20')).toBe('/%E6%97%A5?a=%C3%BC%20b#c%20')
  expect(toRequestPath('/\ud800\u0000\r\n')).toBe('/%EF%BF%BD%00%0D%0A')
  const seen: string[] = []
  await withRawService(
    (socket, request) => {
      seen.push(request.split('\r\n')[0] ?? '')
      socket.end('HTTP/1.1 204 No Content\r\n\r\n')
    },
    (probes) => expect.poll(() => probes.pending()).toBeUndefined(),
    '/日\r\nx: y',
  )
  expect(seen).toEqual(['GET /%E6%97%A5%0D%0Ax:%20y HTTP/1.1'])
})
