import type { RecoveryFlow, Session, SettingsFlow } from '@ory/kratos-client'
import { afterAll, describe, expect, it } from 'vitest'
import { type Answer, getCsrfToken, messageIds } from '../../test/browser.ts'
import {
  consoleUrl,
  goodPassword,
  makeEmail,
  signUp,
  startMailingIdentity,
  startTestIdentity,
} from '../../test/identity.ts'
import { getCode, getLink } from '../../test/mail-server.ts'

const { identity, mailServer, stop } = await startMailingIdentity()
afterAll(stop)

/** The next recovery mail; the mails of the sign-up are skipped. */
const recoveryMail = (email: string) => mailServer.next(email, 'Recover your account')

async function begin(on = identity): Promise<{ id: string; submit: (json: unknown) => Promise<Answer<RecoveryFlow>> }> {
  const { data: flow } = await on.frontend.createNativeRecoveryFlow()
  return { id: flow.id, submit: (json) => on.browser().ask(`/self-service/recovery?flow=${flow.id}`, { json }) }
}

/** The parts of an answer that could distinguish two addresses. */
function withoutAddress(answer: Answer<RecoveryFlow>, email: string) {
  const { id, expires_at, issued_at, ui, ...rest } = answer.json
  const text = JSON.stringify({ ...rest, nodes: ui.nodes, messages: ui.messages })
  return { status: answer.status, text: text.replaceAll(email, 'ADDRESS') }
}

describe('recovery by API', () => {
  it('ends with a session and a settings flow that accepts a new password', async () => {
    const { email, id } = await signUp(identity)
    const { submit } = await begin()
    await submit({ method: 'code', email })
    const done = await submit({ method: 'code', code: getCode(await recoveryMail(email)) })
    expect(done.status).toBe(200)
    const [token, settings] = done.json.continue_with as unknown as [
      { ory_session_token: string },
      { flow: { id: string } },
    ]
    const client = identity.browser({ 'x-session-token': token.ory_session_token })
    const whoami = await client.ask<Session>('/sessions/whoami')
    expect(whoami.json.identity).toMatchObject({ id, verifiable_addresses: [{ verified: true }] })
    const changed = await client.ask<SettingsFlow>(`/self-service/settings?flow=${settings.flow.id}`, {
      json: { method: 'password', password: `${goodPassword} new` },
    })
    expect(changed.json.state).toBe('success')
  })

  it('gives known and unknown addresses the same answer with the same amount of work', async () => {
    const { email } = await signUp(identity)
    const stranger = makeEmail()
    const [known, unknown] = [await begin(), await begin()]
    const sent = withoutAddress(await known.submit({ method: 'code', email }), email)
    expect(withoutAddress(await unknown.submit({ method: 'code', email: stranger }), stranger)).toEqual(sent)
    const rows = await identity.sql('select flow_id from identity.codes where flow_id in ($1, $2)', [
      known.id,
      unknown.id,
    ])
    expect(rows).toHaveLength(2)
    await recoveryMail(email)
    expect(mailServer.mails.some((mail) => mail.to?.some(({ address }) => address === stranger || !address))).toBe(
      false,
    )
  })

  it('refuses every code after five attempts, including the right one', async () => {
    const { email } = await signUp(identity)
    const { submit } = await begin()
    await submit({ method: 'code', email })
    const code = getCode(await recoveryMail(email))
    const wrong = code === '000000' ? '000001' : '000000'
    for (let count = 0; count < 5; count++)
      expect(messageIds((await submit({ method: 'code', code: wrong })).json)).toEqual([4060006])
    const late = await submit({ method: 'code', code })
    expect(late.status).toBe(303)
    expect(late.location).toContain('/self-service/recovery/flows?id=')
  })

  it('stores no code in clear text', async () => {
    const { email } = await signUp(identity)
    const { id, submit } = await begin()
    await submit({ method: 'code', email })
    const code = getCode(await recoveryMail(email))
    const rows = await identity.sql(
      'select c.*, f.* from identity.codes c join identity.flows f on f.id = c.flow_id where f.id = $1',
      [id],
    )
    expect(JSON.stringify(rows)).not.toContain(code)
  })
})

describe('recovery mails', () => {
  it('contain the code on its own line and no link', async () => {
    const { email } = await signUp(identity)
    const { submit } = await begin()
    await submit({ method: 'code', email })
    const mail = await recoveryMail(email)
    expect(getCode(mail)).toMatch(/^\d{6}$/)
    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:/)
    expect(mail.html).toContain(getCode(mail))
  })

  it('contain one link where a link was requested, which signs in once in any browser', async () => {
    const { email } = await signUp(identity)
    const { submit } = await begin()
    await submit({ method: 'link', email })
    const mail = await recoveryMail(email)
    expect(mail.text?.match(/https?:/g)).toHaveLength(1)
    expect(getCode(mail)).toBe('')
    const path = getLink(mail).slice(`${consoleUrl}/kratos`.length)
    const browser = identity.browser()
    const opened = await browser.page(path)
    expect(opened.location).toMatch(/\/auth\/settings\?flow=/)
    const { json } = await browser.ask<Session>('/sessions/whoami')
    expect(json.authentication_methods).toMatchObject([{ method: 'link_recovery' }])
    expect((await identity.browser().page(path)).location).toMatch(/\/auth\/recovery\?flow=/)
  })
})

describe('recovery with limits', () => {
  it('sends no second code within 30 seconds, to known and unknown addresses alike', async () => {
    const limited = await startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
    })
    try {
      for (const email of [(await signUp(limited)).email, makeEmail()]) {
        expect((await (await begin(limited)).submit({ method: 'code', email })).status).toBe(200)
        const soon = await (await begin(limited)).submit({ method: 'link', email })
        expect(soon.status).toBe(429)
        expect(Number(soon.headers.get('retry-after'))).toBeLessThanOrEqual(30)
      }
    } finally {
      await limited.stop()
    }
  })

  it('stops guesses at one account across many flows', async () => {
    const limited = await startTestIdentity({
      CRUX_RATE_LIMITS: 'on',
      RATE_LIMIT_ACCOUNT: '7/10m',
      RATE_LIMIT_RESEND: '100/1s',
      SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
    })
    try {
      const { email } = await signUp(limited)
      const statuses: number[] = []
      for (let flow = 0; flow < 2; flow++) {
        const { submit } = await begin(limited)
        await submit({ method: 'code', email })
        for (let count = 0; count < 5; count++)
          statuses.push((await submit({ method: 'code', code: `${flow}0000${count}` })).status)
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 429, 429, 429])
    } finally {
      await limited.stop()
    }
  })
})

describe('recovery started by an administrator', () => {
  it('works without mail for any browser that has the code', async () => {
    const silent = await startTestIdentity()
    try {
      const { id } = await signUp(silent)
      const { data: made, status } = await silent.admin.createRecoveryCodeForIdentity({
        createRecoveryCodeForIdentityBody: { identity_id: id, expires_in: '12h' },
      })
      expect(status).toBe(201)
      expect(new Date(made.expires_at ?? 0).getTime() - Date.now()).toBeGreaterThan(11.9 * 3600_000)
      const flowId = new URL(made.recovery_link).searchParams.get('flow')
      const browser = silent.browser()
      const done = await browser.ask(`/self-service/recovery?flow=${flowId}`, {
        json: { method: 'code', code: made.recovery_code },
      })
      expect(done.status).toBe(422)
      expect((await browser.ask<Session>('/sessions/whoami')).json.identity?.id).toBe(id)
      const own = await silent.browser().ask<{ error: { id: string } }>('/self-service/recovery/api')
      expect(own.json.error.id).toBe('self_service_flow_disabled')
    } finally {
      await silent.stop()
    }
  })

  it('does not let another site submit the flow with the cookies of a browser', async () => {
    const { id } = await signUp(identity)
    const { data: made } = await identity.admin.createRecoveryCodeForIdentity({
      createRecoveryCodeForIdentityBody: { identity_id: id },
    })
    const flowId = new URL(made.recovery_link).searchParams.get('flow')
    const browser = identity.browser()
    await browser.ask<RecoveryFlow>(`/self-service/recovery/flows?id=${flowId}`)
    const refused = await browser.ask(`/self-service/recovery?flow=${flowId}`, {
      json: { method: 'code', code: made.recovery_code },
      headers: { origin: 'https://evil.test' },
    })
    expect(refused.status).toBe(403)
  })
})

it('gives the browser a settings flow of its own, with a csrf token that works', async () => {
  const { email } = await signUp(identity)
  const browser = identity.browser()
  const { json: flow } = await browser.ask<RecoveryFlow>('/self-service/recovery/browser')
  const submit = (fields: object) =>
    browser.ask<RecoveryFlow>(`/self-service/recovery?flow=${flow.id}`, {
      json: { csrf_token: getCsrfToken(flow), method: 'code', ...fields },
    })
  await submit({ email })
  const done = await submit({ code: getCode(await recoveryMail(email)) })
  const { redirect_browser_to: target } = done.json as unknown as { redirect_browser_to: string }
  const id = new URL(target).searchParams.get('flow')
  const { json: settings } = await browser.ask<SettingsFlow>(`/self-service/settings/flows?id=${id}`)
  const changed = await browser.ask<SettingsFlow>(`/self-service/settings?flow=${id}`, {
    json: { csrf_token: getCsrfToken(settings), method: 'password', password: `${goodPassword} new` },
  })
  expect(changed.json.state).toBe('success')
})
