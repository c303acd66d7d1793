import { afterEach, expect, it } from 'vitest'
import { dial } from '../../test/kit/dial.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { generateKey } from '../crypto/cipher.ts'

const running: TestServer[] = []
async function start(...options: Parameters<typeof startTestServer>) {
  const crux = await startTestServer(...options)
  running.push(crux)
  return crux
}
afterEach(async () => {
  // The first one owns the database that the others share.
  const [first, ...others] = running.splice(0)
  for (const crux of others) await crux.stop({ database: true })
  await first?.stop()
})

const bad = `crux_${'x'.repeat(43)}`
const from = (address: string, token: string) => ({
  headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
})
const ask = (crux: TestServer, address: string, token = bad) => crux.request('/api/teams', from(address, token))
async function fail(crux: TestServer, address: string, times: number, token?: string) {
  const statuses: number[] = []
  for (let done = 0; done < times; done += 10)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 10 }, () => ask(crux, address, token)))).map((a) => a.status),
    )
  return statuses
}

it('guessing tokens is refused after a hundred from one address, on all servers, with the time to wait, and a valid token still works', async () => {
  const encryption = { key: generateKey(), deprecatedKey: undefined }
  const config = { trustedProxies: ['127.0.0.1'], encryption }
  const crux = await start({ config })
  const second = await start({ config, database: crux.database, people: crux.people })
  const ada = crux.signUp()
  const { token } = await crux.client(ada).call('tokens.create', { body: { name: 'Good', expirationInDays: 0 } })

  expect(new Set(await fail(crux, '192.0.2.1', 50))).toEqual(new Set([401]))
  expect(new Set(await fail(second, '192.0.2.1', 50, 'ory_st_not_a_session_of_anybody'))).toEqual(new Set([401]))
  for (const server of [crux, second]) {
    const refused = await ask(server, '192.0.2.1')
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: 'tooManyRequests' }])
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(540)
    expect(wait).toBeLessThanOrEqual(600)
  }
  const dialling = (address: string) => dial(crux.url, bad, { 'x-forwarded-for': address })
  await expect(dialling('192.0.2.1')).rejects.toThrow('status 429')
  await expect(dialling('192.0.2.2')).rejects.toThrow('status 401')
  expect((await ask(crux, '192.0.2.1', token)).status).toBe(200)
  expect((await ask(crux, '192.0.2.2')).status).toBe(401)

  const { rows } = await crux.app.database.pool.query('select key, hits from crux.rate_limit')
  expect(JSON.stringify(rows)).not.toContain('192.0.2')
  expect(rows).toHaveLength(2)
})

it('concurrent guesses are counted one by one: of a hundred and ten a hundred are answered', async () => {
  const crux = await start()
  const answers = await Promise.all(Array.from({ length: 110 }, () => ask(crux, 'ignored: no proxy is trusted')))
  const count = (status: number) => answers.filter((answer) => answer.status === status).length
  expect([count(401), count(429)]).toEqual([100, 10])
})

it('requests without a token, or with an old cookie, are not counted as guesses', async () => {
  const crux = await start()
  await crux.request('/api/teams')
  await crux.request('/api/teams', { headers: { cookie: 'ory_kratos_session=gone' } })
  const { rowCount } = await crux.app.database.pool.query('select from crux.rate_limit')
  expect(rowCount).toBe(0)
})

it('guessing tokens is unlimited while limits are off', async () => {
  const crux = await start({ config: { rateLimits: false } })
  expect(new Set(await fail(crux, '127.0.0.1', 120))).toEqual(new Set([401]))
})
