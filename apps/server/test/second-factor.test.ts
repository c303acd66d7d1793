import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { oneTimePassword } from '../../identity/test/kratos/one-time-password.ts'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from './kit/accounts.ts'
import { until } from './kit/index.ts'

const password = 'an engine of brass'
const newPassword = 'a loom of silk and numbers'
const email = 'ada@example.com'

let testEnvironment: AccountsTestEnvironment
let ada: Browser
let secret: string
let team: { id: string }

beforeAll(async () => {
  testEnvironment = await startWithAccounts()
  ada = testEnvironment.makeBrowser()
  await ada.register(email, password)
  team = (await ada.go('/api/teams', { name: 'Engines', slug: 'engines' })).body as typeof team
})
afterAll(() => testEnvironment?.stop())

/** A code is valid once. The use of the current one is deleted, so that no test waits for the next. */
async function nextCode() {
  await testEnvironment.server.app.database.pool.query(
    `update identity.credentials set config = config || '{"lastStep": 0}' where type = 'totp'`,
  )
  return oneTimePassword(secret)
}
const assertAllowed = (browser: Browser) =>
  browser.go(`/api/teams/${team.id}/security`, { secondFactorRequired: true, allowedDomains: [] }, 'PUT')

async function enrol(browser: Browser) {
  const flow = (await browser.go('/kratos/self-service/settings/browser')).body as {
    id: string
    ui: { nodes: { attributes: { id?: string; name?: string; value?: string; text?: { text: string } } }[] }
  }
  const attributes = flow.ui.nodes.map((node) => node.attributes)
  secret = attributes.find(({ id }) => id === 'totp_secret_key')?.text?.text ?? ''
  const csrf = attributes.find(({ name }) => name === 'csrf_token')?.value
  const body = { method: 'totp', totp_code: await nextCode(), csrf_token: csrf }
  expect((await browser.go(`/kratos/self-service/settings?flow=${flow.id}`, body)).status).toBe(200)
}

async function showCode(browser: Browser) {
  const { flow, csrfToken } = await browser.begin('login', '?aal=aal2')
  const body = { method: 'totp', totp_code: await nextCode(), csrf_token: csrfToken }
  return browser.go(`/kratos/self-service/login?flow=${flow}`, body)
}

/** Signed in by a recovery code and the second factor. */
async function recovered(): Promise<Browser> {
  const browser = testEnvironment.makeBrowser()
  const flow = await browser.begin('recovery')
  await testEnvironment.server.app.database.pool.query('delete from identity.rate_limits')
  const before = new Date().toISOString()
  await browser.go('/api/auth/recovery', { ...flow, email })
  const mail = await testEnvironment.mailTo(
    email,
    ({ text, createdAt }) => createdAt >= before && /^\d{6}$/m.test(text),
  )
  const code = /^(\d{6})$/m.exec(mail.text)?.[1]
  const half = await browser.go('/api/auth/recovery', { ...flow, code })
  expect([half.status, half.location]).toEqual([
    201,
    `/auth/login?aal=aal2&return_to=${encodeURIComponent('/auth/settings/new-password')}`,
  ])
  expect((await browser.go('/api/teams')).status).toBe(401)
  expect((await showCode(browser)).status).toBe(200)
  expect(await browser.go('/api/engines/projects')).toMatchObject({ status: 403, body: { property: 'recovered' } })
  return browser
}

describe('a second factor', () => {
  it('is required of the owner who demands it of the team, and counts as soon as it is set up', async () => {
    expect(await assertAllowed(ada)).toMatchObject({ status: 412, body: { property: 'secondFactorRequired' } })
    await enrol(ada)
    expect((await assertAllowed(ada)).status).toBe(204)
    expect((await ada.go('/api/engines/projects')).status).toBe(200)
  })

  it('is requested after the password, and until then the user is not signed in', async () => {
    const browser = testEnvironment.makeBrowser()
    const half = await browser.login(email, password)
    expect([half.status, half.location]).toEqual([201, expect.stringContaining('aal=aal2')])
    expect((await browser.go('/api/teams')).status).toBe(401)
    expect((await showCode(browser)).status).toBe(200)
    expect((await browser.go('/api/engines/projects')).status).toBe(200)
  })

  it('is requested in recovery, too, before the new password', async () => {
    const browser = await recovered()
    const settings = await browser.begin('settings')
    const changed = await browser.go('/api/auth/settings/change-password', { ...settings, password: newPassword })
    expect(changed.status).toBe(200)
    await until(async () => (await browser.go('/api/engines/projects')).status === 200, 1_000)
  })

  it('is not needed for a sign-in with the known password that ends a recovery', async () => {
    const browser = await recovered()
    expect((await testEnvironment.makeBrowser().login(email, 'not the password')).status).toBe(400)
    expect((await browser.go('/api/engines/projects')).status).toBe(403)
    expect((await testEnvironment.makeBrowser().login(email, newPassword)).status).toBe(201)
    await until(async () => (await browser.go('/api/engines/projects')).status === 200)
  })

  it('is required to access the team, but nothing else', async () => {
    const grace = testEnvironment.makeBrowser()
    await grace.register('grace@example.com', password, 'Grace')
    await ada.go(`/api/teams/${team.id}/users`, { email: 'grace@example.com', firstName: 'Grace' })
    expect((await grace.go(`/api/users/me/invitations/${team.id}`, undefined, 'POST')).status).toBe(204)
    const kept = await grace.go('/api/engines/projects')
    expect([kept.status, kept.body]).toMatchObject([403, { error: 'forbidden', property: 'secondFactor' }])
    expect((await grace.go('/api/teams', { name: 'Own', slug: 'graces' })).status).toBe(201)
    expect((await grace.go(`/api/teams/${team.id}/users/leave`, undefined, 'DELETE')).status).toBe(204)
  })
})
