import { type CaptchaService, startCaptchaService } from '@crux/test-kit'
import type { LoginFlow, RecoveryFlow, RegistrationFlow, UiContainer } from '@ory/kratos-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken, messageIds } from '../../test/browser.ts'
import { openLogin, submitLogin } from '../../test/factors.ts'
import { goodPassword, makeEmail, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { startMailServer } from '../../test/mail-server.ts'

const secret = 'what only we and the verifier know'
let verifier: CaptchaService
let mails: Awaited<ReturnType<typeof startMailServer>>
let identity: TestIdentity

const settings = () => ({
  ...verifier.settings,
  CRUX_RATE_LIMITS: 'on',
  SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`,
})
beforeAll(async () => {
  verifier = await startCaptchaService(secret)
  mails = await startMailServer()
  identity = await startTestIdentity(settings())
})
afterEach(() => verifier.breakWith(undefined))
afterAll(async () => {
  await identity.stop()
  await mails.close()
  await verifier.close()
})

const asked = (ui: UiContainer) => ui.nodes.filter(({ group }) => group === 'captcha')
const passed = (token = verifier.pass()) => ({ transient_payload: { captcha_token: token } })

async function register(more: object, browser = identity.browser(), email = makeEmail()) {
  const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
  const fields = {
    method: 'password',
    password: goodPassword,
    traits: { email },
    csrf_token: getCsrfToken(flow),
    ...more,
  }
  const answer = await browser.ask<RegistrationFlow>(`/self-service/registration?flow=${flow.id}`, { json: fields })
  return { flow, answer, email }
}
const logIn = async (email: string, more: object, browser: Browser = identity.browser()) =>
  submitLogin<LoginFlow>(browser, await openLogin(browser), { method: 'password', identifier: email, ...more })

describe('signing up with a captcha', () => {
  it('names the script of the captcha and requires a passed check', async () => {
    const { flow, answer } = await register({})
    expect(asked(flow.ui).map(({ attributes }) => attributes)).toMatchObject([
      { node_type: 'script', src: verifier.settings.CAPTCHA_SCRIPT_URL },
      { node_type: 'div', data: { sitekey: 'our-site' } },
      { name: 'transient_payload.captcha_token', type: 'hidden', required: true },
    ])
    expect(answer.status).toBe(400)
    expect(messageIds(answer.json)).toEqual([4000038])
    expect(asked(answer.json.ui)).toHaveLength(3)
    expect(JSON.stringify(answer.json)).not.toContain(secret)
  })

  it('sends the secret and the address of the browser to the verifier, and accepts a token once', async () => {
    const token = verifier.pass()
    const { answer } = await register(passed(token))
    expect(answer.status).toBe(200)
    expect(verifier.asked.at(-1)).toEqual({
      secret,
      response: token,
      remoteip: '127.0.0.1',
      type: 'application/x-www-form-urlencoded',
      path: '/siteverify',
    })
    const again = await register(passed(token))
    expect([again.answer.status, messageIds(again.answer.json)]).toEqual([400, [4000038]])
  })

  it('reads the token from a form that was submitted without scripts of Crux', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    const form = {
      method: 'password',
      password: goodPassword,
      'traits.email': makeEmail(),
      csrf_token: getCsrfToken(flow),
      'transient_payload.captcha_token': verifier.pass(),
    }
    expect((await browser.ask(`/self-service/registration?flow=${flow.id}`, { form })).status).toBe(200)
  })

  it.each(['html', 'error', 'silent'] as const)(
    'is refused by the flow without a server error while the verifier answers with %s',
    async (how) => {
      verifier.breakWith(how)
      const { answer } = await register(passed())
      expect([answer.status, messageIds(answer.json)]).toEqual([400, [4000038]])
      expect(answer.json.ui.messages?.[0]?.text).toContain('cannot be made now')
    },
  )

  it('is refused while the configured secret is wrong', async () => {
    const wrong = await startTestIdentity({ ...settings(), CAPTCHA_SECRET_KEY: 'another one' })
    const { answer } = await register(passed(), wrong.browser())
    expect(answer.json.ui.messages?.[0]?.text).toContain('cannot be made now')
    await wrong.stop()
  })
})

it('cannot be bypassed: requesting a code opens the flow only for that code', async () => {
  const browser = identity.browser()
  const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
  const submit = (more: object) =>
    browser.ask<RegistrationFlow>(`/self-service/registration?flow=${flow.id}`, {
      json: { traits: { email: makeEmail() }, csrf_token: getCsrfToken(flow), ...more },
    })
  expect((await submit({ method: 'code', ...passed() })).json.state).toBe('sent_email')
  expect(messageIds((await submit({ method: 'password', password: goodPassword })).json)).toEqual([4000038])

  const email = makeEmail()
  for (let tries = 0; tries < 3; tries++) await logIn(email, { password: 'not my password' })
  const login = await openLogin(browser)
  const sent = await submitLogin<LoginFlow>(browser, login, { method: 'code', identifier: makeEmail() })
  expect(sent.json.state).toBe('sent_email')
  const guess = { method: 'password', identifier: email, password: 'not my password' }
  expect(messageIds((await submitLogin<LoginFlow>(browser, login, guess)).json)).toEqual([4000038])
})

describe('recovery with a captcha', () => {
  it('requires the check before a mail is sent, and not for submitting the code', async () => {
    const { email } = await register(passed())
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RecoveryFlow>('/self-service/recovery/browser')
    expect(asked(flow.ui)).toHaveLength(3)
    const send = (more: object) =>
      browser.ask<RecoveryFlow>(`/self-service/recovery?flow=${flow.id}`, {
        json: { method: 'code', email, csrf_token: getCsrfToken(flow), ...more },
      })
    const refused = await send({})
    expect([refused.status, messageIds(refused.json), refused.json.state]).toEqual([400, [4000038], 'choose_method'])
    const sent = await send(passed())
    expect([sent.status, sent.json.state, asked(sent.json.ui)]).toEqual([200, 'sent_email', []])
    const wrong = await send({ email: undefined, code: '000000' })
    expect(messageIds(wrong.json)).toEqual([4060006])
  })

  it('does not require the check for a code that an administrator passed on', async () => {
    const [{ id } = { id: '' }] = await identity.sql<{ id: string }>('select id from identity.identities limit 1')
    const { data } = await identity.admin.createRecoveryCodeForIdentity({
      createRecoveryCodeForIdentityBody: { identity_id: id },
    })
    const flow = new URL(data.recovery_link).searchParams.get('flow')
    const browser = identity.browser()
    const shown = await browser.ask<RecoveryFlow>(`/self-service/recovery/flows?id=${flow}`)
    expect(asked(shown.json.ui)).toEqual([])
    const json = { method: 'code', code: data.recovery_code }
    expect((await browser.ask(`/self-service/recovery?flow=${flow}`, { json })).status).toBe(422)
  })
})

describe('signing in with a captcha', () => {
  it.each(['somebody', 'nobody'])(
    'requires the check after three failures with an address that belongs to %s',
    async (whose) => {
      const email = whose === 'nobody' ? makeEmail() : (await register(passed())).email
      for (let tries = 0; tries < 3; tries++) {
        const { json } = await logIn(email, { password: 'not my password' })
        expect([messageIds(json), asked(json.ui)]).toEqual([[4000006], []])
      }
      const browser = identity.browser()
      const flow = await openLogin(browser)
      expect(asked(flow.ui)).toEqual([])
      const submit = (more: object) =>
        submitLogin<LoginFlow>(browser, flow, {
          method: 'password',
          identifier: email,
          password: goodPassword,
          ...more,
        })
      const refused = await submit({})
      expect([refused.status, messageIds(refused.json)]).toEqual([400, [4000038]])
      expect(asked(refused.json.ui)).toHaveLength(3)
      const shown = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${flow.id}`)
      expect(asked(shown.json.ui)).toHaveLength(3)
      const wrong = await submit({ ...passed(), password: 'not my password' })
      expect([messageIds(wrong.json), asked(wrong.json.ui).length]).toEqual([[4000006], 3])
      // The address is not verified, so the right password leads to the verification step. This proves that the password was checked.
      expect(messageIds((await submit(passed())).json)).toEqual([whose === 'nobody' ? 4000006 : 4000010])
    },
  )

  it('requires the check also for requesting a code, but not for other addresses', async () => {
    const email = makeEmail()
    for (let tries = 0; tries < 3; tries++) await logIn(email.toUpperCase(), { password: 'not my password' })
    expect(messageIds((await logIn(email, { method: 'code' })).json)).toEqual([4000038])
    expect((await logIn(email, { method: 'code', ...passed() })).json.state).toBe('sent_email')
    expect((await logIn(makeEmail(), { method: 'code' })).json.state).toBe('sent_email')
  })
})

it('requires no check where no captcha is configured', async () => {
  const plain = await startTestIdentity({ CRUX_RATE_LIMITS: 'on' })
  const { flow, answer, email } = await register({}, plain.browser())
  expect([asked(flow.ui), answer.status]).toEqual([[], 200])
  for (let tries = 0; tries < 4; tries++) {
    const { json } = await logIn(email, { password: 'not my password' }, plain.browser())
    expect([messageIds(json), asked(json.ui)]).toEqual([[4000006], []])
  }
  await plain.stop()
})
