import { type OidcServer, oidcClient, startOidcServer } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from './kit/accounts.ts'

const password = 'an engine of brass'

let provider: OidcServer
let testEnvironment: AccountsTestEnvironment

beforeAll(async () => {
  testEnvironment = await startWithAccounts({
    async identitySettings(url) {
      provider = await startOidcServer([`${url}/kratos/self-service/methods/oidc/callback/corp`])
      const corp = { id: 'corp', label: 'Corp', issuer: provider.issuer, ...oidcClient }
      return { OIDC_PROVIDERS: JSON.stringify([corp]) }
    },
  })
})
afterAll(async () => {
  await testEnvironment?.stop()
  await provider?.close()
})

let count = 0
function newUser() {
  const email = `user${++count}@example.com`
  provider.account = { sub: `sub-${count}`, email, email_verified: true, given_name: 'Grace', family_name: 'Hopper' }
  return email
}
/** The browser follows the redirect to the provider and back. */
async function follow(browser: Browser, answer: { status: number; location: string | null }) {
  expect(answer.status).toBe(201)
  const back = await provider.visit(answer.location ?? '', `${testEnvironment.server.url}/kratos`)
  return browser.go(back)
}
const signIn = async (browser: Browser) =>
  follow(
    browser,
    await browser.go('/api/auth/login', { ...(await browser.begin('login')), method: 'oidc', provider: 'corp' }),
  )
const settings = async (browser: Browser, method: 'POST' | 'DELETE') =>
  browser.go('/api/auth/settings/oidc', { ...(await browser.begin('settings')), provider: 'corp' }, method)

describe('a login provider', () => {
  it('signs in users who have an account there', async () => {
    const email = newUser()
    const browser = testEnvironment.makeBrowser()
    await signIn(browser)
    expect((await browser.me()).user).toMatchObject({ name: 'Grace Hopper', email })
  })

  it('is linked and unlinked in the settings, and the last way to sign in cannot be removed', async () => {
    const email = newUser()
    const browser = testEnvironment.makeBrowser()
    await browser.register(email, password)
    await follow(browser, await settings(browser, 'POST'))
    const other = testEnvironment.makeBrowser()
    await signIn(other)
    expect((await other.me()).user).toEqual((await browser.me()).user)
    expect((await settings(browser, 'DELETE')).status).toBe(200)
    newUser()
    const only = testEnvironment.makeBrowser()
    await signIn(only)
    const kept = await settings(only, 'DELETE')
    expect([kept.status >= 400, (await only.me()).user.id]).toEqual([true, expect.any(String)])
  })

  it('creates an account that can be invited, by its address', async () => {
    const email = newUser()
    const guest = testEnvironment.makeBrowser()
    await signIn(guest)
    const ada = testEnvironment.makeBrowser()
    await ada.register('ada@example.com', password)
    const team = (await ada.go('/api/teams', { name: 'Engines', slug: 'engines' })).body as { id: string }
    const invited = await ada.go(`/api/teams/${team.id}/users`, { email, firstName: 'Grace' })
    expect([invited.status, invited.body]).toMatchObject([201, { id: (await guest.me()).user.id }])
    const mail = await testEnvironment.mailTo(email, ({ subject }) => subject.startsWith('Invitation'))
    expect(mail.text).toContain(`/teams/${team.id}/invitation`)
    expect((await guest.go(`/api/users/me/invitations/${team.id}`, undefined, 'POST')).status).toBe(204)
  })

  it('replaces the new password for users who signed in with a code and link it', async () => {
    const email = newUser()
    await testEnvironment.makeBrowser().register(email, password)
    const browser = testEnvironment.makeBrowser()
    const flow = await browser.begin('recovery')
    await browser.go('/api/auth/recovery', { ...flow, email })
    const mail = await testEnvironment.mailTo(email, ({ text }) => /^\d{6}$/m.test(text))
    const code = /^(\d{6})$/m.exec(mail.text)?.[1]
    expect((await browser.go('/api/auth/recovery', { ...flow, code })).status).toBe(201)
    await browser.me()
    expect((await browser.go('/api/teams')).status).toBe(403)
    await follow(browser, await settings(browser, 'POST'))
    expect((await browser.go('/api/teams')).status).toBe(200)
  })
})
