import type { LoginFlow, RegistrationFlow, SettingsFlow, VerificationFlow } from '@ory/kratos-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { messageIds } from '../../test/browser.ts'
import { clientAt, goodPassword, makeEmail, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { type MailServer, startMailServer } from '../../test/mail-server.ts'

let mailServer: MailServer
let identity: TestIdentity
beforeAll(async () => {
  mailServer = await startMailServer()
})
afterAll(() => mailServer.close())
beforeEach(async () => {
  identity = await startTestIdentity({ CRUX_RATE_LIMITS: 'on' })
})
afterEach(() => identity.stop())

async function signIn(identifier: string, password: string, clientAddress = '192.0.2.1') {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  return identity.browser(clientAt(clientAddress)).ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
    json: { method: 'password', identifier, password },
  })
}

describe('failed sign-ins', () => {
  it('are limited to ten per account and network, until the window has passed', async () => {
    const { email } = await signUp(identity)
    const other = await signUp(identity)
    for (let tries = 1; tries <= 10; tries++)
      expect((await signIn(tries % 2 ? email : email.toUpperCase(), 'not my password')).status).toBe(400)
    const refused = await signIn(email, goodPassword)
    expect(refused.status).toBe(429)
    expect(refused.json).toMatchObject({ error: { code: 429, status: 'Too Many Requests' } })
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(590)
    expect(wait).toBeLessThanOrEqual(600)
    expect((await signIn(other.email, goodPassword)).status).toBe(200)

    await identity.sql('update identity.rate_limits set resets_at = now()')
    expect((await signIn(email, goodPassword)).status).toBe(200)
  })

  it('from one network do not lock the owner out in another network', async () => {
    const { email } = await signUp(identity)
    for (let tries = 1; tries <= 30; tries++) await signIn(email, 'not my password', '203.0.113.66')
    expect((await signIn(email, goodPassword, '203.0.113.66')).status).toBe(429)
    expect((await signIn(email, goodPassword, '198.51.100.4')).status).toBe(200)
    // A client with one IPv6 address controls all addresses of its network.
    for (let tries = 1; tries <= 10; tries++) await signIn(email, 'not my password', `2001:db8:0:1::${tries}`)
    expect((await signIn(email, goodPassword, '2001:db8:0:1:ffff::1')).status).toBe(429)
    expect((await signIn(email, goodPassword, '2001:db8:0:2::1')).status).toBe(200)
  })

  it('are reset by the right password', async () => {
    const { email } = await signUp(identity)
    for (let round = 1; round <= 2; round++) {
      for (let tries = 1; tries <= 9; tries++) await signIn(email, 'not my password', `192.0.2.${tries}`)
      expect((await signIn(email, goodPassword)).status).toBe(200)
    }
  })

  it('cannot exceed the limit with concurrent requests', async () => {
    const { email } = await signUp(identity)
    const answers = await Promise.all(Array.from({ length: 20 }, () => signIn(email, 'not my password')))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  })

  it('from one client address are limited for existing and unknown accounts alike', async () => {
    const strict = await startTestIdentity({ CRUX_RATE_LIMITS: 'on', RATE_LIMIT_CLIENT: '12/10m' })
    const attempt = async (index: number, from: string) => {
      const { data: flow } = await strict.frontend.createNativeLoginFlow()
      const json = { method: 'password', identifier: `user${index}@example.com`, password: 'not my password' }
      const browser = strict.browser(clientAt(from))
      return (await browser.ask(`/self-service/login?flow=${flow.id}`, { json })).status
    }
    try {
      for (let index = 0; index < 12; index++) expect(await attempt(index, '198.51.100.7')).toBe(400)
      expect(await attempt(12, '198.51.100.7')).toBe(429)
      expect(await attempt(12, '::ffff:198.51.100.7')).toBe(429)
      expect(await attempt(12, '198.51.100.8')).toBe(400)
      // A client with one IPv6 address controls all addresses of its network.
      for (let index = 0; index < 12; index++) expect(await attempt(index, `2001:db8:0:1:${index}::1`)).toBe(400)
      expect(await attempt(12, '2001:db8:0:1:ffff::1')).toBe(429)
      expect(await attempt(12, '2001:db8:0:2::1')).toBe(400)
    } finally {
      await strict.stop()
    }
  })

  it('include attempts to sign up with a taken address', async () => {
    const { email } = await signUp(identity)
    const [before] = await identity.sql<{ hits: number }>('select sum(hits)::int as hits from identity.rate_limits')
    const { data: flow } = await identity.frontend.createNativeRegistrationFlow()
    const answer = await identity.browser().ask<RegistrationFlow>(`/self-service/registration?flow=${flow.id}`, {
      json: { method: 'password', password: goodPassword, traits: { email } },
    })
    expect(messageIds(answer.json)).toEqual([4000007])
    const [after] = await identity.sql<{ hits: number }>('select sum(hits)::int as hits from identity.rate_limits')
    expect((after?.hits ?? 0) - (before?.hits ?? 0)).toBe(1)
  })

  it('leave no name and no address in the database', async () => {
    await signIn('someone@example.com', 'not my password', '203.0.113.9')
    const rows = await identity.sql(`select encode(key, 'escape') as key from identity.rate_limits`)
    // One row each for the client, for the account from this network, and for the account alone.
    expect(rows).toHaveLength(3)
    expect(JSON.stringify(rows)).not.toMatch(/someone|203\.0\.113/)
  })
})

describe('changes of the e-mail address', () => {
  const mailing = (settings: Record<string, string> = {}) =>
    startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
      ...settings,
    })
  async function changer(service: TestIdentity) {
    const { token } = await signUp(service)
    const user = service.browser({ 'x-session-token': token })
    const { json: flow } = await user.ask<SettingsFlow>('/self-service/settings/api')
    return async (email: string) =>
      (
        await user.ask(`/self-service/settings?flow=${flow.id}`, {
          json: { method: 'profile', traits: { email, name: { first: 'Ada' } } },
        })
      ).status
  }

  it('send no more mails to an address than other codes do', async () => {
    const service = await mailing()
    try {
      const change = await changer(service)
      const [one, other] = [makeEmail(), makeEmail()]
      expect([await change(one), await change(other), await change(one)]).toEqual([200, 200, 429])
      expect(await change(makeEmail())).toBe(200)
      await service.sql('update identity.rate_limits set resets_at = now()')
      expect(await change(one)).toBe(200)
    } finally {
      await service.stop()
    }
  })

  it('reveal at most ten times in ten minutes whether an address is taken', async () => {
    const service = await mailing({ RATE_LIMIT_RESEND: '1000/1s' })
    try {
      const taken = (await signUp(service)).email
      const change = await changer(service)
      for (let tries = 1; tries <= 10; tries++) expect(await change(taken)).toBe(400)
      expect([await change(taken), await change(makeEmail())]).toEqual([429, 429])
      expect(await (await changer(service))(makeEmail())).toBe(200)
    } finally {
      await service.stop()
    }
  })
})

describe('a client address', () => {
  it('is read from the headers of a proxy only if that proxy is trusted', async () => {
    const wary = await startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      IDENTITY_HOST: '0.0.0.0',
      TRUSTED_PROXIES: '10.9.8.7',
    })
    try {
      const { token } = await signUp(wary)
      const session = await wary.browser({ 'x-session-token': token }).ask('/sessions/whoami')
      expect(session.json).toMatchObject({ devices: [{ ip_address: '127.0.0.1' }] })
      const { data: flow } = await wary.frontend.createNativeRegistrationFlow()
      const made = await wary
        .browser({ 'x-forwarded-for': '203.0.113.5' })
        .ask(`/self-service/registration?flow=${flow.id}`, {
          json: { method: 'password', password: goodPassword, traits: { email: makeEmail() } },
        })
      expect(made.json).toMatchObject({ session: { devices: [{ ip_address: '127.0.0.1' }] } })
    } finally {
      await wary.stop()
    }
  })
})

describe('codes by mail', () => {
  it('are sent again after 30 seconds, to known and unknown addresses alike', async () => {
    const mailing = await startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
    })
    const send = async (email: string) => {
      const { data: flow } = await mailing.frontend.createNativeVerificationFlow()
      return mailing.browser().ask<VerificationFlow>(`/self-service/verification?flow=${flow.id}`, {
        json: { method: 'code', email },
      })
    }
    try {
      const { email } = await signUp(mailing)
      const soon = await send(email)
      expect(soon.status).toBe(429)
      expect(Number(soon.headers.get('retry-after'))).toBeLessThanOrEqual(30)
      const stranger = makeEmail()
      expect((await send(stranger)).status).toBe(200)
      expect((await send(stranger)).status).toBe(429)
      await mailing.sql('update identity.rate_limits set resets_at = now()')
      expect((await send(email)).status).toBe(200)
    } finally {
      await mailing.stop()
    }
  })

  it('allow ten attempts per address, across all mails and flows', async () => {
    const mailing = await startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      RATE_LIMIT_RESEND: '1000/1s',
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
    })
    try {
      for (const email of [(await signUp(mailing)).email, makeEmail()]) {
        const statuses: number[] = []
        for (let round = 0; round < 3; round++) {
          const { data: flow } = await mailing.frontend.createNativeVerificationFlow()
          const submit = async (json: object) =>
            (await mailing.browser().ask(`/self-service/verification?flow=${flow.id}`, { json })).status
          expect(await submit({ method: 'code', email })).toBe(200)
          for (let tries = 0; tries < 5; tries++) statuses.push(await submit({ method: 'code', code: 'wrong' }))
        }
        expect(statuses).toEqual([...Array(10).fill(200), ...Array(5).fill(429)])
      }
    } finally {
      await mailing.stop()
    }
  })
})
