import perfHooks from 'node:perf_hooks'
import fastify from 'fastify'
import { expect, test, vi } from 'vitest'
import { createHealth } from './health.ts'
import { isLoopbackUrl } from './loopback-url.ts'
import { createMetrics, metricsHandler } from './metrics.ts'

function makeApp(options: { token?: string; loopbackUrl: boolean }) {
  const metrics = createMetrics({ prefix: 'crux_' })
  metrics.counter({ name: 'things', help: 'things' }).inc(3)
  const app = fastify()
  app.get('/metrics', metricsHandler({ metrics, token: options.token, loopbackUrl: options.loopbackUrl }))
  return (headers: Record<string, string> = {}) => app.inject({ url: '/metrics', headers })
}

test('metrics are shown only with the token, if one is configured', async () => {
  const get = makeApp({ token: 'secret-token', loopbackUrl: true })
  expect((await get()).statusCode).toBe(401)
  expect((await get({ authorization: 'Bearer wrong' })).statusCode).toBe(401)
  const answer = await get({ authorization: 'Bearer secret-token' })
  expect(answer.body).toContain('crux_things 3')
  expect(answer.body).toContain('crux_process_cpu_seconds_total')
})

test('metrics sample the event loop only after the first request for metrics', async () => {
  const sampling = vi.spyOn(perfHooks, 'monitorEventLoopDelay')
  const metrics = createMetrics()
  expect(sampling).not.toHaveBeenCalled()
  expect(await metrics.read()).toContain('nodejs_eventloop_lag_p99_seconds')
  await metrics.read()
  expect(sampling).toHaveBeenCalledTimes(1)
})

test('metrics without a token are shown only on loopback to requests that no proxy forwarded', async () => {
  expect((await makeApp({ loopbackUrl: true })()).statusCode).toBe(200)
  expect((await makeApp({ loopbackUrl: true })({ 'x-forwarded-for': '1.2.3.4' })).statusCode).toBe(403)
  expect((await makeApp({ loopbackUrl: true })({ forwarded: 'for=1.2.3.4' })).statusCode).toBe(403)
  expect((await makeApp({ loopbackUrl: false })()).statusCode).toBe(403)
})

test.each([
  ['http://localhost:8000', true],
  ['http://127.0.0.1', true],
  ['http://[::1]:1', true],
  ['https://crux.example.com', false],
  ['http://127.0.0.1.example.com', false],
  ['nonsense', false],
])('isLoopbackUrl classifies %s as loopback: %s', (url, expected) => {
  expect(isLoopbackUrl(url)).toBe(expected)
})

test('health is alive but not ready while a check fails or hangs, and contains no secret', async () => {
  const health = createHealth({
    version: '1.0.0',
    lastMigration: () => '0001_x',
    timeoutMs: 30,
    checks: {
      good: async () => undefined,
      bad: () => Promise.reject(Object.assign(new Error('postgres://u:secret@h'), { code: 'ECONNREFUSED' })),
      hangs: () => new Promise(() => undefined),
    },
  })
  expect(await health.live()).toEqual({
    statusCode: 200,
    body: { status: 'disrupted', version: '1.0.0', lastMigration: '0001_x' },
  })
  expect(await health.ready()).toMatchObject({
    statusCode: 503,
    body: { checks: { good: 'ok', bad: 'failed: ECONNREFUSED', hangs: 'no answer in time' } },
  })
  expect((await createHealth({ version: '1' }).ready()).statusCode).toBe(200)
})
