import { type CaptchaService, startCaptchaService } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccountsTestEnvironment, startWithAccounts } from './kit/accounts.ts'

const secret = 'what only we and the verifier know'
let verifier: CaptchaService
let testEnvironment: AccountsTestEnvironment

beforeAll(async () => {
  verifier = await startCaptchaService(secret)
  testEnvironment = await startWithAccounts({
    config: { captchaOrigins: ['https://captcha.example.com'] },
    identitySettings: async () => verifier.settings,
  })
})
afterAll(async () => {
  await testEnvironment.stop()
  await verifier.close()
})

it("the captcha's response is forwarded by the relays of sign-up, sign-in and recovery", async () => {
  const email = 'ada@example.com'
  const browser = testEnvironment.makeBrowser()
  const user = { method: 'password', email, password: 'an engine of brass', firstName: 'Ada' }
  const register = async (more: object) =>
    browser.go('/api/auth/register', { ...(await browser.begin('registration')), ...user, ...more })
  const refused = await register({})
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('4000038')])
  expect((await register({ captcha: verifier.pass() })).status).toBe(200)

  const other = testEnvironment.makeBrowser()
  const recovery = await other.begin('recovery')
  expect((await other.go('/api/auth/recovery', { ...recovery, email })).status).toBe(400)
  expect(await other.go('/api/auth/recovery', { ...recovery, email, captcha: verifier.pass() })).toMatchObject({
    status: 200,
    body: { state: 'sent_email' },
  })

  for (let tries = 0; tries < 3; tries++) expect((await other.login(email, 'not my password')).status).toBe(400)
  expect((await other.login(email, user.password)).status).toBe(400)
  const login = { ...(await other.begin('login')), method: 'password', email, password: user.password }
  expect((await other.go('/api/auth/login', { ...login, captcha: verifier.pass() })).status).toBe(200)
})

it("the captcha's script may be loaded by the pages", async () => {
  const { headers } = await testEnvironment.makeBrowser().go('/api/health')
  expect(headers.get('content-security-policy')).toContain("script-src 'self' https://captcha.example.com;")
  expect(headers.get('content-security-policy')).toContain('frame-src https://captcha.example.com;')
})
