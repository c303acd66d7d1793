import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from './kit/accounts.ts'
import { dial } from './kit/dial.ts'
import { until } from './kit/index.ts'

const password = 'an engine of brass'
const newPassword = 'a loom of silk and numbers'

let testEnvironment: AccountsTestEnvironment
beforeAll(async () => {
  testEnvironment = await startWithAccounts({ config: { rateLimits: false } })
})
afterAll(() => testEnvironment?.stop())

let serial = 0
/** A user with an account of the real identity service and a team. */
async function makeOwner() {
  const email = `theft${++serial}@example.com`
  const browser = testEnvironment.makeBrowser()
  await browser.register(email, password)
  const slug = `theft-${serial}`
  await browser.go('/api/teams', { name: slug, slug })
  return { email, browser, slug }
}

const createToken = (browser: Browser, name = 'Script') =>
  browser.go('/api/tokens', { name, scope: 'read', expirationInDays: 0 })
const getToken = async (browser: Browser, name?: string) => (await createToken(browser, name)).body.token as string
const use = async (slug: string, token: string) =>
  (await fetch(`${testEnvironment.server.url}/api/${slug}/nodes`, { headers: { authorization: `Bearer ${token}` } }))
    .status
const getLog = async (browser: Browser) =>
  (await browser.go('/kratos/sessions/security-log')).body as unknown as {
    event: string
    details: Record<string, unknown>
    ip_address: string
  }[]
const logged = (browser: Browser, event: string) =>
  until(async () => (await getLog(browser)).find((entry) => entry.event === event), 10_000)
/** Moves the last sign-in back by an hour. */
const age = (email: string) =>
  testEnvironment.server.app.database.pool.query(
    `update identity.sessions set authenticated_at = now() - interval '1 hour' where identity_id =
      (select identity_id from identity.verifiable_addresses where value = $1)`,
    [email],
  )

/** Signs in by a recovery code, relayed by our API or directly through the proxy. */
async function recover(email: string, by: 'relay' | 'proxy') {
  const browser = testEnvironment.makeBrowser()
  const { flow, csrfToken } = await browser.begin('recovery')
  const submit = (fields: object) =>
    by === 'relay'
      ? browser.go('/api/auth/recovery', { flow, csrfToken, ...fields })
      : browser.go(`/kratos/self-service/recovery?flow=${flow}`, { method: 'code', csrf_token: csrfToken, ...fields })
  await submit({ email })
  const mail = await testEnvironment.mailTo(email, ({ subject }) => subject === 'Recover your account')
  expect(mail.text).toContain('revokes all of your API tokens')
  await submit({ code: /^(\d{6})$/m.exec(mail.text)?.[1] })
  return browser
}

describe('an API token', () => {
  it('needs a sign-in of the last five minutes, and the confirmed session gets it at once', async () => {
    const { email, browser } = await makeOwner()
    await age(email)
    let attempts = 0
    // The server may cache the previous session for 2 s; without delays the account would reach its limit of tokens.
    const refused = await until(async () => {
      await delay(100)
      const answer = await createToken(browser, `Attempt ${++attempts}`)
      return answer.status === 201 ? undefined : answer
    }, 5_000)
    expect([refused.status, refused.body]).toMatchObject([403, { error: 'forbidden', property: 'session' }])
    await browser.go('/api/auth/login', {
      ...(await browser.begin('login', '?refresh=true')),
      method: 'password',
      email,
      password,
    })
    expect((await createToken(browser)).status).toBe(201)
  })

  it('is listed in the security log of its owner with the client, and mails report its creation and its revocation', async () => {
    const { email, browser } = await makeOwner()
    const { id } = (await createToken(browser, 'Pipeline')).body
    expect(await logged(browser, 'token-created')).toMatchObject({
      details: { name: 'Pipeline', scope: 'read' },
      ip_address: '127.0.0.1',
    })
    const created = await testEnvironment.mailTo(email, ({ subject }) => subject === 'An API token was created')
    expect(created.text).toContain('"Pipeline"')
    await browser.go(`/api/tokens/${String(id)}`, undefined, 'DELETE')
    expect(await logged(browser, 'token-revoked')).toMatchObject({ details: { name: 'Pipeline' } })
    await testEnvironment.mailTo(email, ({ subject }) => subject === 'An API token was revoked')
  })
})

describe('a recovery after a theft', () => {
  it.each(['relay', 'proxy'] as const)(
    'revokes all API tokens (%s), also one in an open connection and an unused one',
    async (by) => {
      const { email, browser, slug } = await makeOwner()
      const [used, unused] = [await getToken(browser, 'Used'), await getToken(browser, 'Unused')]
      expect(await use(slug, used)).toBe(200)
      const { subscribe, closed } = await dial(testEnvironment.server.url, used)
      await subscribe(`/${slug}/nodes`)
      const recovered = await recover(email, by)
      await until(async () => (await use(slug, used)) === 401, 2_000)
      expect(await use(slug, unused)).toBe(401)
      expect(await closed).toBe(4401)
      await recovered.go('/api/auth/settings/change-password', {
        ...(await recovered.begin('settings')),
        password: newPassword,
      })
      expect((await recovered.go('/api/tokens')).body).toEqual([])
      expect(await logged(recovered, 'tokens-revoked')).toMatchObject({ details: { count: 2 } })
      await testEnvironment.mailTo(email, ({ subject }) => subject === 'Your API tokens were revoked')
      expect(await use(slug, await getToken(recovered, 'After'))).toBe(200)
    },
  )

  it('revokes them although no server received an event of it', async () => {
    const { browser, slug } = await makeOwner()
    const token = await getToken(browser)
    const { user } = await browser.me()
    // The state after a recovery, without an event to any server.
    await testEnvironment.server.app.database.pool.query(
      'update identity.identities set recovered_at = now() where id = $1',
      [user.id],
    )
    await until(async () => (await use(slug, token)) === 401, 5_000)
    expect((await browser.go('/api/tokens')).body).toEqual([])
  })

  it('differs from a new password, which revokes them only on request', async () => {
    const { browser, slug } = await makeOwner()
    const token = await getToken(browser)
    const change = async (value: string, more: object) =>
      browser.go('/api/auth/settings/change-password', {
        ...(await browser.begin('settings')),
        password: value,
        ...more,
      })
    expect((await change(newPassword, {})).status).toBe(200)
    expect(await use(slug, token)).toBe(200)
    expect((await change(`${newPassword} 2`, { revokeTokens: true })).status).toBe(200)
    expect(await use(slug, token)).toBe(401)
    expect(await logged(browser, 'tokens-revoked')).toMatchObject({ details: { count: 1 }, ip_address: '127.0.0.1' })
  })
})
