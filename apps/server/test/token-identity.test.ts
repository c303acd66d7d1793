import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccountsTestEnvironment, startWithAccounts } from './kit/accounts.ts'
import { dial } from './kit/dial.ts'
import { until } from './kit/index.ts'

let testEnvironment: AccountsTestEnvironment
beforeAll(async () => {
  testEnvironment = await startWithAccounts()
})
afterAll(() => testEnvironment?.stop())

let serial = 0
/** A user with an account of the real identity service, a team and an API token. */
async function makeHolder() {
  const browser = testEnvironment.makeBrowser()
  await browser.register(`holder${++serial}@example.com`, 'an engine of brass')
  const slug = `team-${serial}`
  await browser.go('/api/teams', { name: `Team ${serial}`, slug })
  const made = await browser.go('/api/tokens', { name: 'Script', expirationInDays: 0 })
  const { token } = made.body as unknown as { token: string }
  const me = (await browser.go('/api/users/me', undefined, 'POST')).body as { user: { id: string } }
  const ask = async () =>
    (await fetch(`${testEnvironment.server.url}/api/${slug}/nodes`, { headers: { authorization: `Bearer ${token}` } }))
      .status
  const { subscribe, closed } = await dial(testEnvironment.server.url, token)
  await subscribe(`/${slug}/nodes`)
  expect(await ask()).toBe(200)
  return { id: me.user.id, ask, closed }
}

const admin = (id: string, init: RequestInit) => {
  const { identityAdminUrl, identityAdminToken } = testEnvironment.server.app.config
  return fetch(`${identityAdminUrl}/admin/identities/${id}`, {
    ...init,
    headers: { authorization: `Bearer ${identityAdminToken}`, 'content-type': 'application/json' },
  })
}

it('disabling an account ends its tokens and live sockets at once, and enabling it restores the tokens', async () => {
  const { id, ask, closed } = await makeHolder()
  const change = (value: string) =>
    admin(id, { method: 'PATCH', body: JSON.stringify([{ op: 'replace', path: '/state', value }]) })
  expect((await change('inactive')).status).toBe(200)
  const at = Date.now()
  await until(async () => (await ask()) === 401, 1_000)
  expect(await closed).toBe(4401)
  expect(Date.now() - at).toBeLessThan(5_000)
  expect((await change('active')).status).toBe(200)
  await until(async () => (await ask()) === 200, 1_000)
})

it('deleting an account ends its tokens and live sockets at once', async () => {
  const { id, ask, closed } = await makeHolder()
  expect((await admin(id, { method: 'DELETE' })).status).toBe(204)
  await until(async () => (await ask()) === 401, 1_000)
  expect(await closed).toBe(4401)
})
