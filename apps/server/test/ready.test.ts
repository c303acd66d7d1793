import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startTestServer, until } from './kit/index.ts'

it('the server is ready only while the identity service is ready and the bus receives events, and names the missing part', async () => {
  let identityStatus = 200
  const identity = createServer((_request, response) => {
    response.writeHead(identityStatus, { 'content-type': 'application/json' })
    response.end('{"status":"ok"}')
  }).listen(0, '127.0.0.1')
  await once(identity, 'listening')
  const crux = await startTestServer({
    config: { identityPublicUrl: `http://127.0.0.1:${(identity.address() as AddressInfo).port}` },
    // The real one is checked, not the replacement of the kit.
    overrides: { identity: undefined },
  })
  const ready = async () => {
    const answer = await crux.request('/health/ready')
    return [answer.status, ((await answer.json()) as { checks: Record<string, string> }).checks] as const
  }
  const ok = { database: 'ok', bus: 'ok', identity: 'ok' }
  expect(await ready()).toEqual([200, ok])

  identityStatus = 503
  expect(await ready()).toEqual([503, { ...ok, identity: expect.stringMatching(/^failed: /) }])
  expect((await crux.request('/health')).status).toBe(200)
  identityStatus = 200
  expect(await ready()).toEqual([200, ok])
  identity.closeAllConnections()
  identity.close()
  expect(await ready()).toEqual([503, { ...ok, identity: expect.stringMatching(/^failed: /) }])

  // The listening connection cannot be restored while its user may not connect.
  const { pool } = crux.app.database
  const cut = () =>
    pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'crux listen' and datname = current_database()",
    )
  const stop = new AbortController()
  const cutting = (async () => {
    while (!stop.signal.aborted) await cut()
  })()
  await until(async () => (await ready())[1].bus !== 'ok')
  stop.abort()
  await cutting
  await until(async () => (await ready())[1].bus === 'ok')
  await crux.stop()
})
