import type { LoginFlow, RecoveryFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken } from '../../test/browser.ts'
import { enrolTotp, signUpInBrowser } from '../../test/factors.ts'
import { clientAt, goodPassword, makeEmail, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { type MailServer, startMailServer } from '../../test/mail-server.ts'

let mailServer: MailServer
let identity: TestIdentity
/** A limit that a test reaches with few guesses. The limit per client is too high to interfere. */
const limits = {
  CRUX_RATE_LIMITS: 'on',
  RATE_LIMIT_CLIENT: '1000/10m',
  RATE_LIMIT_ACCOUNT: '3/10m',
  RATE_LIMIT_ACCOUNT_TOTAL: '6/1h',
  RATE_LIMIT_CODES: '6/24h',
  RATE_LIMIT_RESEND: '1000/1s',
}
beforeAll(async () => {
  mailServer = await startMailServer()
  identity = await startTestIdentity({ ...limits })
})
afterAll(async () => {
  await identity.stop()
  await mailServer.close()
})

let network = 0
/** A browser in a network that was not used before. */
const stranger = (service = identity) =>
  service.browser(clientAt(`10.${Math.floor(++network / 200)}.${network % 200}.1`))

async function signIn(browser: Browser, email: string, password: string) {
  const { json: flow } = await browser.ask<LoginFlow>('/self-service/login/browser')
  const json = { method: 'password', identifier: email, password, csrf_token: getCsrfToken(flow) }
  return (await browser.ask(`/self-service/login?flow=${flow.id}`, { json })).status
}

/** A browser in which the user has signed in, without its session. */
async function knownDevice(email: string): Promise<Browser> {
  const browser = stranger()
  expect(await signIn(browser, email, goodPassword)).toBe(200)
  browser.cookies.delete('ory_kratos_session')
  return browser
}

async function guess(email: string, count: number, browser = () => stranger()) {
  const statuses = []
  for (let tries = 0; tries < count; tries++) statuses.push(await signIn(browser(), email, 'not my password'))
  return statuses
}

describe('the limit of guesses per account', () => {
  it('stops guesses from changing networks, and lets the owner in from a known device', async () => {
    const { email } = await signUp(identity)
    const own = await knownDevice(email)
    expect(await guess(email, 8)).toEqual([400, 400, 400, 400, 400, 400, 429, 429])
    expect(await signIn(stranger(), email, goodPassword)).toBe(429)
    expect(await signIn(own, email, goodPassword)).toBe(200)
    // The sign-in of the owner gives the attacker no further guesses.
    expect(await guess(email, 1)).toEqual([429])
  })

  it('is shared by all known devices of the account', async () => {
    const { email } = await signUp(identity)
    const [one, other] = [await knownDevice(email), await knownDevice(email)]
    expect(await guess(email, 2, () => one)).toEqual([400, 400])
    expect(await guess(email, 2, () => other)).toEqual([400, 429])
    expect(await signIn(one, email, goodPassword)).toBe(429)
    expect(await signIn(stranger(), email, goodPassword)).toBe(200)
  })
})

describe('the cookie of a known device', () => {
  it('cannot be read by scripts, gives no access, and is invalid for another account', async () => {
    const [ada, eve] = [await signUp(identity), await signUp(identity)]
    const browser = stranger()
    const { json: flow } = await browser.ask<LoginFlow>('/self-service/login/browser')
    const json = { method: 'password', identifier: eve.email, password: goodPassword, csrf_token: getCsrfToken(flow) }
    const { setCookies } = await browser.ask(`/self-service/login?flow=${flow.id}`, { json })
    const cookie = setCookies.find((line) => line.startsWith('crux_device='))
    expect(cookie).toMatch(/^crux_device=[\w-]{22}\.[\w-]{22}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/)
    expect(cookie).not.toContain(eve.id)
    browser.cookies.delete('ory_kratos_session')
    expect((await browser.ask('/sessions/whoami')).status).toBe(401)
    await guess(ada.email, 6)
    expect(await signIn(browser, ada.email, goodPassword)).toBe(429)
    browser.cookies.set('crux_device', `${'a'.repeat(22)}.${'b'.repeat(22)}`)
    expect(await signIn(browser, ada.email, goodPassword)).toBe(429)
  })

  it('works for several users of one browser', async () => {
    const [ada, eve] = [await signUp(identity), await signUp(identity)]
    const browser = await knownDevice(ada.email)
    expect(await signIn(browser, eve.email, goodPassword)).toBe(200)
    browser.cookies.delete('ory_kratos_session')
    await guess(ada.email, 6)
    await guess(eve.email, 6)
    expect(await signIn(browser, ada.email, goodPassword)).toBe(200)
    browser.cookies.delete('ory_kratos_session')
    expect(await signIn(browser, eve.email, goodPassword)).toBe(200)
  })

  it('is not set after the password alone when a second factor is required', async () => {
    const { browser: enrolled, email } = await signUpInBrowser(identity)
    await enrolTotp(enrolled)
    const browser = stranger()
    await signIn(browser, email, goodPassword)
    expect(browser.cookies.has('ory_kratos_session')).toBe(true)
    expect(browser.cookies.has('crux_device')).toBe(false)
  })
})

describe('guesses at codes', () => {
  it.each(['known', 'unknown'])('stop at the daily limit, from changing networks, for a %s address', async (who) => {
    const mailing = await startTestIdentity({
      ...limits,
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
    })
    try {
      const email = who === 'known' ? (await signUp(mailing)).email : makeEmail()
      const recover = async () => {
        const { data: flow } = await mailing.frontend.createNativeRecoveryFlow()
        const submit = (json: object) =>
          stranger(mailing).ask<RecoveryFlow>(`/self-service/recovery?flow=${flow.id}`, { json })
        expect((await submit({ method: 'code', email })).status).toBe(200)
        const { status } = await submit({ method: 'code', code: '000000' })
        return status
      }
      const statuses = []
      for (let tries = 0; tries < 8; tries++) statuses.push(await recover())
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
      // The window is a day, so ten minutes change nothing.
      const [row] = await mailing.sql<{ hours: number }>(
        'select max(extract(epoch from resets_at - now()))::float8 / 3600 as hours from identity.rate_limits',
      )
      expect(row?.hours).toBeGreaterThan(23.9)
    } finally {
      await mailing.stop()
    }
  })
})
