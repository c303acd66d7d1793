import type { LoginFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken } from '../../test/browser.ts'
import { clientAt, goodPassword, makeEmail, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { getCode, type MailServer, startMailServer } from '../../test/mail-server.ts'

let mailServer: MailServer
let identity: TestIdentity
beforeAll(async () => {
  mailServer = await startMailServer()
  identity = await startTestIdentity({
    CRUX_RATE_LIMITS: 'on',
    RATE_LIMIT_MAILS: '6/1h',
    SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
  })
})
afterAll(async () => {
  await identity.stop()
  await mailServer.close()
})

let network = 0
/** A browser in a network that was not used before. */
const newNetwork = () => identity.browser(clientAt(`10.9.${Math.floor(++network / 200)}.${network % 200}`))
type Kind = 'login' | 'recovery' | 'verification' | 'registration'
const kinds = ['login', 'recovery', 'verification', 'registration'] as const

/** Requests a code in a new flow in this browser and returns the answer. */
async function ask(kind: Kind, email: string, browser: Browser = newNetwork()) {
  const { json: flow } = await browser.ask<LoginFlow>(`/self-service/${kind}/browser`)
  const submit = (json: object) =>
    browser.ask<LoginFlow>(`/self-service/${kind}?flow=${flow.id}`, {
      json: { method: 'code', csrf_token: getCsrfToken(flow), ...json },
    })
  const address = kind === 'login' ? { identifier: email } : kind === 'registration' ? { traits: { email } } : { email }
  const { status, json } = await submit(address)
  const sent = status !== 429 && json.state === 'sent_email'
  return { status, sent, enter: (code: string) => submit({ ...address, email: undefined, code }) }
}

/** A browser in which the user has signed in, without its session. */
async function knownDevice(email: string): Promise<Browser> {
  const browser = newNetwork()
  // A user with an unverified address cannot sign in with a password.
  await identity.sql(`update identity.verifiable_addresses set verified = true where value = $1`, [email])
  const { json: flow } = await browser.ask<LoginFlow>('/self-service/login/browser')
  const json = { method: 'password', identifier: email, password: goodPassword, csrf_token: getCsrfToken(flow) }
  expect((await browser.ask(`/self-service/login?flow=${flow.id}`, { json })).status).toBe(200)
  browser.cookies.delete('ory_kratos_session')
  return browser
}

describe('a code that an attacker requests', () => {
  it.each(kinds)('does not delay the owner, who requests one from another network: %s', async (kind) => {
    const email = kind === 'registration' ? makeEmail() : (await signUp(identity)).email
    const mallory = newNetwork()
    expect((await ask(kind, email, mallory)).sent).toBe(true)
    // One network gets one mail in 30 seconds, across all flows.
    expect((await ask(kind, email, mallory)).status).toBe(429)
    expect((await ask(kind, email)).sent).toBe(true)
  })

  it('does not invalidate the code that the owner was sent before', async () => {
    const { email } = await signUp(identity)
    await mailServer.next(email)
    const own = await ask('login', email)
    const code = getCode(await mailServer.next(email))
    for (let times = 0; times < 4; times++) await ask('login', email)
    expect((await own.enter(code)).status).toBe(200)
  })
})

describe('code requests of attackers in many networks', () => {
  it.each(['login', 'recovery', 'verification'] as const)(
    'do not flood the mailbox, and do not block a device on which the owner has signed in: %s',
    async (kind) => {
      const { email } = await signUp(identity)
      const [own, other] = [await knownDevice(email), await knownDevice(email)]
      // The waiting time after the mail of the sign-up is over.
      await identity.sql('update identity.rate_limits set resets_at = now()')
      const answers = []
      for (let times = 0; times < 8; times++) answers.push((await ask(kind, email)).sent)
      expect(answers.filter(Boolean)).toHaveLength(6)
      const asked = await ask(kind, email, own)
      expect(asked.sent).toBe(true)
      expect((await ask(kind, email, other)).status).toBe(429)
    },
  )

  it('have the same limit for unknown addresses', async () => {
    const email = makeEmail()
    const answers = []
    for (let times = 0; times < 8; times++) answers.push((await ask('recovery', email)).status)
    expect(answers).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  })

  it('are also limited for a device that is known to another user', async () => {
    const { email } = await signUp(identity)
    const foreign = await knownDevice((await signUp(identity)).email)
    for (let times = 0; times < 6; times++) await ask('recovery', email)
    expect((await ask('recovery', email, foreign)).status).toBe(429)
  })
})
