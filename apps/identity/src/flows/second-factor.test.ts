import type { LoginFlow, Session, SettingsFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageIds } from '../../test/browser.ts'
import {
  enrolTotp,
  getLookupCodes,
  getSecret,
  listNames,
  makeApp,
  openLogin,
  openSettings,
  shown,
  signInWithPassword,
  signUpInBrowser,
  submitLogin,
  submitSettings,
} from '../../test/factors.ts'
import { consoleUrl, goodPassword, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { oneTimePassword } from '../../test/kratos/one-time-password.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

const secondFactorPage = `${consoleUrl}/kratos/self-service/login/browser?aal=aal2`

describe('an authenticator app', () => {
  it('is set up with one of its codes and upgrades the session at once', async () => {
    const { browser } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const secret = getSecret(flow)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const wrong = await submitSettings(browser, flow, { method: 'totp', totp_code: '000000' })
    expect(wrong.status).toBe(400)
    expect(messageIds(wrong.json, 'totp_code')).toEqual([4000008])
    expect(getSecret(wrong.json)).toBe(secret)
    const done = await submitSettings(browser, flow, { method: 'totp', totp_code: makeApp(secret).code(0) })
    expect(done.status).toBe(200)
    expect(listNames(done.json.ui, 'totp')).toEqual(['totp_unlink'])
    const { json: session } = await browser.ask<Session>('/sessions/whoami')
    expect(session.authenticator_assurance_level).toBe('aal2')
    expect(session.authentication_methods?.map(({ method }) => method)).toEqual(['password', 'totp'])
  })

  it('shows its secret as a picture of 256 pixels', async () => {
    const { browser } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const { src, width, height } = shown(flow.ui, 'totp_qr') as { src: string; width: number; height: number }
    const png = Buffer.from(src.replace(/^data:image\/png;base64,/, ''), 'base64')
    expect([png.readUInt32BE(16), png.readUInt32BE(20), width, height]).toEqual([256, 256, 256, 256])
  })

  it('stores no readable secret in the database', async () => {
    const { browser } = await signUpInBrowser(identity)
    const pending = getSecret(await openSettings(browser))
    const { secret: kept } = await enrolTotp(browser)
    const rows = await identity.sql<{ all: string }>(
      `select string_agg(t::text, '') as all from (select f::text as t from identity.flows f union all
       select c::text from identity.credentials c) rows`,
    )
    expect(rows[0]?.all).not.toContain(pending)
    expect(rows[0]?.all).not.toContain(kept)
    expect(rows[0]?.all).not.toContain('data:image/png')
  })

  it('accepts each code once', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const app = await enrolTotp(browser)
    const other = await signInWithPassword(identity, email)
    const flow = await openLogin(other, '?aal=aal2')
    // The code of the setup counts as used too.
    const enrolled = await submitLogin<LoginFlow>(other, flow, { method: 'totp', totp_code: app.code(-1) })
    expect(messageIds(enrolled.json)).toEqual([4000008])
    const code = app.code(0)
    expect((await submitLogin(other, flow, { method: 'totp', totp_code: code })).status).toBe(200)
    const third = await signInWithPassword(identity, email)
    const replayed = await submitLogin<LoginFlow>(third, await openLogin(third, '?aal=aal2'), {
      method: 'totp',
      totp_code: code,
    })
    expect(replayed.status).toBe(400)
    expect(messageIds(replayed.json)).toEqual([4000008])
  })

  it('lets only one of two sign-ins with the same code in at the same time', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const app = await enrolTotp(browser)
    const attempts = await Promise.all(
      [1, 2, 3].map(async () => {
        const other = await signInWithPassword(identity, email)
        return { other, flow: await openLogin(other, '?aal=aal2') }
      }),
    )
    const code = app.code(0)
    const answers = await Promise.all(
      attempts.map(({ other, flow }) => submitLogin(other, flow, { method: 'totp', totp_code: code })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  it('accepts codes of the adjacent time steps, and no older ones', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const app = makeApp(getSecret(flow))
    const old = await submitSettings(browser, flow, { method: 'totp', totp_code: app.code(-3) })
    expect(messageIds(old.json, 'totp_code')).toEqual([4000008])
    expect((await submitSettings(browser, flow, { method: 'totp', totp_code: app.code(-1) })).status).toBe(200)
    const other = await signInWithPassword(identity, email)
    const ahead = await submitLogin(other, await openLogin(other, '?aal=aal2'), {
      method: 'totp',
      totp_code: ` ${oneTimePassword(app.secret, 1).replace(/^.../, '$& ')} `,
    })
    expect(ahead.status).toBe(200)
  })

  it('is deleted without a downgrade of the session, and is no longer requested', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await enrolTotp(browser)
    const flow = await openSettings(browser)
    const removed = await submitSettings(browser, flow, { totp_unlink: true })
    expect(removed.status).toBe(200)
    expect(listNames(removed.json.ui, 'totp')).toContain('totp_qr')
    expect((await browser.ask<Session>('/sessions/whoami')).json.authenticator_assurance_level).toBe('aal2')
    const other = await signInWithPassword(identity, email)
    expect((await other.ask('/sessions/whoami')).status).toBe(200)
  })
})

describe('backup codes', () => {
  async function withCodes() {
    const { browser, email } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const made = await submitSettings(browser, flow, { lookup_secret_regenerate: true })
    const codes = getLookupCodes(made.json)
    return { browser, email, flow, codes }
  }

  it('work only after their confirmation', async () => {
    const { browser, email, flow, codes } = await withCodes()
    expect(codes).toHaveLength(12)
    expect(codes.every((code) => /^[a-z0-9]{8}$/.test(code))).toBe(true)
    expect((await (await signInWithPassword(identity, email)).ask('/sessions/whoami')).status).toBe(200)
    const kept = await submitSettings(browser, flow, { lookup_secret_confirm: true })
    expect(kept.status).toBe(200)
    expect((await (await signInWithPassword(identity, email)).ask('/sessions/whoami')).status).toBe(403)
  })

  it('are stored in no readable form', async () => {
    const { browser, flow, codes } = await withCodes()
    await submitSettings(browser, flow, { lookup_secret_confirm: true })
    await submitSettings(browser, flow, { lookup_secret_reveal: true })
    const rows = await identity.sql<{ all: string }>(
      `select string_agg(t::text, '') as all from (select f::text as t from identity.flows f union all
       select c::text from identity.credentials c) rows`,
    )
    expect(codes.filter((code) => rows[0]?.all.includes(code))).toEqual([])
  })

  it('work once each, in any capitals, and are shown as used', async () => {
    const { browser, email, flow, codes } = await withCodes()
    await submitSettings(browser, flow, { lookup_secret_confirm: true })
    const other = await signInWithPassword(identity, email)
    const login = await openLogin(other, '?aal=aal2')
    const wrong = await submitLogin<LoginFlow>(other, login, { method: 'lookup_secret', lookup_secret: 'nonsense' })
    expect(messageIds(wrong.json)).toEqual([4000016])
    const used = { method: 'lookup_secret', lookup_secret: ` ${codes[3]?.toUpperCase()}` }
    expect((await submitLogin(other, login, used)).status).toBe(200)
    const third = await signInWithPassword(identity, email)
    const again = await submitLogin<LoginFlow>(third, await openLogin(third, '?aal=aal2'), used)
    expect(messageIds(again.json)).toEqual([4000012])
    const revealed = await submitSettings(other, await openSettings(other), { lookup_secret_reveal: true })
    const { text } = shown(revealed.json.ui, 'lookup_secret_codes') as {
      text: { context: { secrets: { id: number }[] } }
    }
    expect(text.context.secrets.map(({ id }) => id === 1050014)).toEqual(codes.map((_, index) => index === 3))
  })

  it('are replaced together by new ones', async () => {
    const { browser, email, flow, codes } = await withCodes()
    await submitSettings(browser, flow, { lookup_secret_confirm: true })
    const next = await openSettings(browser)
    await submitSettings(browser, next, { lookup_secret_reveal: true })
    const made = await submitSettings(browser, next, { lookup_secret_regenerate: true })
    await submitSettings(browser, next, { lookup_secret_confirm: true })
    const other = await signInWithPassword(identity, email)
    const login = await openLogin(other, '?aal=aal2')
    const old = await submitLogin<LoginFlow>(other, login, { method: 'lookup_secret', lookup_secret: codes[0] })
    expect(messageIds(old.json)).toEqual([4000016])
    const code = getLookupCodes(made.json)[0]
    expect((await submitLogin(other, login, { method: 'lookup_secret', lookup_secret: code })).status).toBe(200)
  })

  it('can be deleted', async () => {
    const { browser, email, flow } = await withCodes()
    await submitSettings(browser, flow, { lookup_secret_confirm: true })
    const removed = await submitSettings(browser, await openSettings(browser), { lookup_secret_disable: true })
    expect(listNames(removed.json.ui, 'lookup_secret')).toEqual(['lookup_secret_regenerate'])
    expect((await (await signInWithPassword(identity, email)).ask('/sessions/whoami')).status).toBe(200)
  })
})

describe('a session that lacks the second factor', () => {
  it('can list sessions and sign out, and nothing else', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await enrolTotp(browser)
    const other = await signInWithPassword(identity, email)
    const whoami = await other.ask('/sessions/whoami')
    expect(whoami.status).toBe(403)
    expect(whoami.json).toMatchObject({
      error: { id: 'session_aal2_required' },
      redirect_browser_to: secondFactorPage,
    })
    expect((await other.ask('/self-service/settings/browser')).status).toBe(403)
    const page = await other.page('/self-service/settings/browser')
    expect([page.status, page.location]).toEqual([303, secondFactorPage])
    expect((await other.ask<Session[]>('/sessions')).json).toHaveLength(1)
    expect((await other.ask('/self-service/logout/browser')).status).toBe(200)
  })

  it('cannot read or update settings, even those of a flow that an upgraded session started', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await enrolTotp(browser)
    const flow = await openSettings(browser)
    const other = await signInWithPassword(identity, email)
    expect((await other.ask(`/self-service/settings/flows?id=${flow.id}`)).status).toBe(403)
    const changed = await submitSettings(other, flow, { method: 'password', password: 'another Otter 77' })
    expect(changed.status).toBe(403)
  })

  it('gets the address of the second factor from the sign-in', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await enrolTotp(browser)
    const other = identity.browser()
    const flow = await openLogin(other, '?return_to=/projects')
    const fields = { method: 'password', identifier: email, password: goodPassword }
    const answer = await submitLogin<{ redirect_browser_to: string }>(other, flow, fields)
    expect(answer.status).toBe(422)
    expect(answer.json.redirect_browser_to).toBe(`${secondFactorPage}&return_to=%2Fprojects`)
    expect(other.sessionCookie).toBeDefined()
  })

  it('is upgraded by the factor, and continues at the requested page', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const app = await enrolTotp(browser)
    const other = await signInWithPassword(identity, email)
    const cookie = other.sessionCookie
    const flow = await openLogin(other, '?aal=aal2&return_to=/projects')
    expect(listNames(flow.ui, 'totp')).toEqual(['totp_code', 'method'])
    const { json, status } = await submitLogin(other, flow, { method: 'totp', totp_code: app.code(0) })
    expect(status).toBe(200)
    expect(json.continue_with).toEqual([
      { action: 'redirect_browser_to', redirect_browser_to: `${consoleUrl}/projects` },
    ])
    expect(other.sessionCookie).toBe(cookie)
    expect((await other.ask('/sessions/whoami')).status).toBe(200)
    const again = await other.ask('/self-service/login/browser?aal=aal2')
    expect(again.json).toMatchObject({ error: { id: 'session_already_available' } })
  })

  it('cannot be upgraded by the factor of another user', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await enrolTotp(browser)
    const { browser: mallory } = await signUpInBrowser(identity)
    const mallorysApp = await enrolTotp(mallory)
    const other = await signInWithPassword(identity, email)
    const flow = await openLogin(other, '?aal=aal2')
    const code = mallorysApp.code(0)
    expect((await submitLogin(other, flow, { method: 'totp', totp_code: code })).status).toBe(400)
    const stranger = identity.browser()
    const foreign = await stranger.ask(`/self-service/login?flow=${flow.id}`, { json: { method: 'totp' } })
    expect(foreign.json).toMatchObject({ error: { id: 'session_aal1_required' } })
  })

  it('gets no access as an API client before the factor is proven', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const app = await enrolTotp(browser)
    const { data: first } = await identity.frontend.createNativeLoginFlow()
    const { data: login } = await identity.frontend.updateLoginFlow({
      flow: first.id,
      updateLoginFlowBody: { method: 'password', identifier: email, password: goodPassword },
    })
    expect(login.session.identity).toBeNull()
    const token = login.session_token ?? ''
    expect((await identity.frontend.toSession({ xSessionToken: token })).status).toBe(403)
    const { data: second } = await identity.frontend.createNativeLoginFlow({ aal: 'aal2', xSessionToken: token })
    const { data: raised } = await identity.frontend.updateLoginFlow({
      flow: second.id,
      xSessionToken: token,
      updateLoginFlowBody: { method: 'totp', totp_code: app.code(0) },
    })
    expect(raised.session_token).toBe(token)
    expect(raised.session.identity?.traits.email).toBe(email)
    expect((await identity.frontend.toSession({ xSessionToken: token })).status).toBe(200)
  })
})

describe('guessing second factors', () => {
  it('ends after ten failures, counted for both kinds together', async () => {
    const limited = await startTestIdentity({ CRUX_RATE_LIMITS: 'on' })
    try {
      const { browser, email } = await signUpInBrowser(limited)
      await enrolTotp(browser)
      const other = await signInWithPassword(limited, email)
      const flow = await openLogin(other, '?aal=aal2')
      const statuses: number[] = []
      for (let attempt = 0; attempt < 11; attempt++) {
        const fields =
          attempt % 2 === 0
            ? { method: 'totp', totp_code: '000000' }
            : { method: 'lookup_secret', lookup_secret: 'guess123' }
        statuses.push((await submitLogin<SettingsFlow>(other, flow, fields)).status)
      }
      expect(statuses).toEqual([...Array<number>(10).fill(400), 429])
    } finally {
      await limited.stop()
    }
  })
})
