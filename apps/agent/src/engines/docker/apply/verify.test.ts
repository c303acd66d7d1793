import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Driver, ObservedContainer } from '../containers/container-engine.ts'
import { verify, watchOne } from './verify.ts'

/** A running container whose service is in this process. */
async function withService(
  serve: RequestListener,
  use: (check: (timeoutMs: number) => Promise<void>, connections: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const seen = { state: 'running', hostNetwork: true, imageId: 'i', restartCount: 0, health: 'none' }
  const driver = {
    subscribe: () => () => undefined,
    engine: { observe: async () => seen as ObservedContainer },
  } as unknown as Driver
  const order = (timeoutMs: number) => ({
    instanceId: 'web',
    full: 'shop-web',
    id: 'c',
    imageId: 'i',
    expectation: { kind: 'running', windowMs: 20, timeoutMs, exitCode: 0, probes: [{ port, path: '/' }] } as const,
    startedAt: performance.now(),
    signal: new AbortController().signal,
  })
  try {
    await use(
      (timeoutMs) => verify(driver, order(timeoutMs), watchOne(driver, 'c', { isFresh: true })),
      () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a probe whose answer has no end stops when the check stops', () =>
  withService(
    (_, response) => {
      response.writeHead(200)
      response.write('and so on')
    },
    async (check, connections) => {
      await check(5_000)
      await vi.waitFor(async () => expect(await connections()).toBe(0), 10_000)
    },
  ))

test('a probe without an answer leaves no connection when the check times out', () =>
  withService(
    () => undefined,
    async (check, connections) => {
      await expect(check(100)).rejects.toThrow('did not answer / on port')
      await vi.waitFor(async () => expect(await connections()).toBe(0), 10_000)
    },
  ))

test('a change of the system clock during a check changes no result', async () => {
  let ready = false
  await withService(
    (_, response) => response.writeHead(ready ? 200 : 503).end(),
    async (check) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      try {
        const verdict = check(5_000)
        vi.setSystemTime(Date.now() + 3_600_000)
        setTimeout(() => {
          ready = true
        }, 50)
        await expect(verdict).resolves.toBeUndefined()
      } finally {
        vi.useRealTimers()
      }
    },
  )
})
