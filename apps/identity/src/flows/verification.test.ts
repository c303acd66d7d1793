import type { LoginFlow, RegistrationFlow, SuccessfulNativeRegistration, VerificationFlow } from '@ory/kratos-client'
import { afterAll, describe, expect, it } from 'vitest'
import { getCsrfToken, getInput, messageIds } from '../../test/browser.ts'
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

const submit = (flow: string, fields: Record<string, unknown>) =>
  identity.browser().ask<VerificationFlow>(`/self-service/verification?flow=${flow}`, { json: fields })

async function signIn(email: string) {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  return identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
    json: { method: 'password', identifier: email, password: goodPassword },
  })
}

function getVerificationFlow(registration: SuccessfulNativeRegistration): string {
  const step = registration.continue_with?.find((entry) => entry.action === 'show_verification_ui')
  return step && 'flow' in step ? step.flow.id : ''
}

const isVerified = async (email: string) => {
  const [row] = await identity.sql<{ verified: boolean }>(
    'select verified from identity.verifiable_addresses where value = $1',
    [email],
  )
  return row?.verified
}

describe('verification after signing up', () => {
  it('sends an API client a code by mail, and refuses to sign in until it is verified', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    expect(registration.continue_with?.map(({ action }) => action)).toEqual([
      'show_verification_ui',
      'set_ory_session_token',
    ])
    expect(registration.continue_with?.[0]).toEqual({
      action: 'show_verification_ui',
      flow: { id: flow, verifiable_address: email },
    })
    expect(registration.identity.verifiable_addresses).toMatchObject([{ verified: false, status: 'sent' }])

    const early = await signIn(email)
    expect(early.status).toBe(400)
    expect(messageIds(early.json)).toEqual([4000010])
    expect(early.json.active).toBe('password')
    expect(getInput(early.json.ui, 'identifier')?.value).toBe('')

    const right = await submit(flow, { method: 'code', code: getCode(await mailServer.next(email)) })
    expect(right.status).toBe(200)
    expect(right.json.state).toBe('passed_challenge')
    expect(messageIds(right.json)).toEqual([1080002])
    expect(right.json.ui.action).toBe(`${consoleUrl}/`)
    expect(right.json.ui.nodes.find(({ type }) => type === 'a')).toMatchObject({
      group: 'code',
      attributes: { id: 'continue', href: `${consoleUrl}/`, node_type: 'a' },
    })
    expect((await signIn(email)).status).toBe(200)
  })

  it('reports a wrong password before it reports an unverified address', async () => {
    const { email } = await signUp(identity)
    const { data: flow } = await identity.frontend.createNativeLoginFlow()
    const answer = await identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
      json: { method: 'password', identifier: email, password: 'not my password' },
    })
    expect(messageIds(answer.json)).toEqual([4000006])
  })

  it('redirects a browser to the page of the flow, whose form is bound to the new csrf cookie', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser?return_to=/after')
    const email = makeEmail()
    const { json: made } = await browser.ask<SuccessfulNativeRegistration>(
      `/self-service/registration?flow=${flow.id}`,
      {
        json: { method: 'password', csrf_token: getCsrfToken(flow), password: goodPassword, traits: { email } },
      },
    )
    const id = getVerificationFlow(made)
    expect(made.continue_with).toEqual([
      { action: 'redirect_browser_to', redirect_browser_to: `${consoleUrl}/after` },
      {
        action: 'show_verification_ui',
        flow: { id, verifiable_address: email, url: `${consoleUrl}/auth/verify?flow=${id}` },
      },
    ])
    const { json: form } = await browser.ask<VerificationFlow>(`/self-service/verification/flows?id=${id}`)
    expect(form).toMatchObject({ state: 'sent_email', active: 'code', return_to: '/after' })
    expect(messageIds(form)).toEqual([1080003])
    expect(getInput(form.ui, 'email')).toBeUndefined()
    const code = getCode(await mailServer.next(email))
    const right = await browser.page(`/self-service/verification?flow=${id}`, {
      form: { method: 'code', code, csrf_token: getCsrfToken(form) },
    })
    expect([right.status, right.location]).toEqual([303, `${consoleUrl}/auth/verify?flow=${id}`])
    const { json: done } = await browser.ask<VerificationFlow>(`/self-service/verification/flows?id=${id}`)
    expect(done.ui.action).toBe(`${consoleUrl}/after`)
    expect(await isVerified(email)).toBe(true)
  })
})

describe('the verification mail', () => {
  it('contains the code on its own line and one link, which prefills the code and verifies nothing', async () => {
    const email = makeEmail()
    const owner = identity.browser()
    const { json: registration } = await owner.ask<RegistrationFlow>('/self-service/registration/browser')
    const { json: made } = await owner.ask<SuccessfulNativeRegistration>(
      `/self-service/registration?flow=${registration.id}`,
      {
        json: { method: 'password', csrf_token: getCsrfToken(registration), password: goodPassword, traits: { email } },
      },
    )
    const id = getVerificationFlow(made)
    const mail = await mailServer.next(email)
    const code = getCode(mail)
    expect(mail.from).toMatchObject({ address: 'crux@localhost', name: 'Crux' })
    expect(code).toMatch(/^\d{6}$/)
    expect(mail.text?.match(/https?:/g)).toHaveLength(1)
    expect(mail.html?.match(/href="/g)).toHaveLength(1)
    const link = getLink(mail)
    expect(link).toBe(`${consoleUrl}/kratos/self-service/verification?flow=${id}&code=${code}`)

    const path = link.slice(`${consoleUrl}/kratos`.length)
    const elsewhere = identity.browser()
    const opened = await elsewhere.page(path)
    expect([opened.status, opened.location]).toEqual([303, `${consoleUrl}/auth/verify?flow=${id}`])
    expect(await isVerified(email)).toBe(false)
    const { json: form } = await elsewhere.ask<VerificationFlow>(`/self-service/verification/flows?id=${id}`)
    expect(getInput(form.ui, 'code')?.value).toBe(code)
    const right = await elsewhere.ask<VerificationFlow>(`/self-service/verification?flow=${id}`, {
      json: { method: 'code', code, csrf_token: getCsrfToken(form) },
    })
    expect(right.json.state).toBe('passed_challenge')
    expect(await isVerified(email)).toBe(true)
  })

  it('leaves no code in clear text in the database', async () => {
    const { email } = await signUp(identity)
    const code = getCode(await mailServer.next(email))
    const rows = await identity.sql(
      'select c.code_hash, f.ui from identity.codes c join identity.flows f on f.id = c.flow_id',
    )
    expect(JSON.stringify(rows)).not.toContain(code)
    await expect.poll(() => identity.sql('select 1 from identity.mail_outbox'), { timeout: 15_000 }).toEqual([])
  })
})

describe('verification codes', () => {
  it('stop working after five wrong attempts, and a new flow reports it', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    const code = getCode(await mailServer.next(email))
    const wrong = code === '000000' ? '000001' : '000000'
    for (let tries = 1; tries <= 5; tries++) {
      const answer = await submit(flow, { method: 'code', code: wrong })
      expect(answer.status).toBe(200)
      expect(messageIds(answer.json)).toEqual([4070006])
    }
    const right = await submit(flow, { method: 'code', code })
    expect(right.status).toBe(410)
    expect(right.json).toMatchObject({ error: { id: 'self_service_flow_replaced' } })
    expect(await isVerified(email)).toBe(false)
  })

  it('cannot be guessed with many concurrent requests', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    await mailServer.next(email)
    const guesses = Array.from({ length: 20 }, (_, index) =>
      submit(flow, { method: 'code', code: `00000${index % 10}` }),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5)
  })

  it('cannot be guessed through the link of the mail', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    const code = getCode(await mailServer.next(email))
    const wrong = code === '000000' ? '000001' : '000000'
    for (let tries = 1; tries <= 6; tries++)
      await identity.browser().page(`/self-service/verification?flow=${flow}&code=${wrong}`)
    expect((await submit(flow, { method: 'code', code })).status).toBe(410)
  })

  it('work once', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    const code = getCode(await mailServer.next(email))
    expect((await submit(flow, { method: 'code', code })).status).toBe(200)
    const again = await submit(flow, { method: 'code', code })
    expect(again.status).toBe(410)
    expect(again.json).toMatchObject({ error: { id: 'self_service_flow_replaced' } })
    const replacement = (again.json as unknown as { use_flow_id: string }).use_flow_id
    const { json: next } = await identity
      .browser()
      .ask<VerificationFlow>(`/self-service/verification/flows?id=${replacement}`)
    expect(messageIds(next)).toEqual([4070002])
  })

  it('expire', async () => {
    const { email, registration } = await signUp(identity)
    const flow = getVerificationFlow(registration)
    const code = getCode(await mailServer.next(email))
    await identity.sql(`update identity.codes set expires_at = now() - interval '1 second' where flow_id = $1`, [flow])
    const late = await submit(flow, { method: 'code', code })
    expect(late.status).toBe(410)
    expect(late.json).toMatchObject({ error: { id: 'self_service_flow_expired' } })
  })

  it('stop working when another one is sent', async () => {
    const { email } = await signUp(identity)
    await mailServer.next(email)
    const { data: flow } = await identity.frontend.createNativeVerificationFlow()
    const sent = await submit(flow.id, { method: 'code', email })
    expect(getInput(sent.json.ui, 'email')).toMatchObject({ type: 'submit', value: email })
    const first = getCode(await mailServer.next(email))
    await submit(flow.id, { method: 'code', email })
    const second = getCode(await mailServer.next(email))
    expect(messageIds((await submit(flow.id, { method: 'code', code: first })).json)).toEqual([4070006])
    expect((await submit(flow.id, { method: 'code', code: second })).json.state).toBe('passed_challenge')
  })
})

describe('a verification flow that a user starts', () => {
  it('gives unknown addresses the same answer and sends them no mail', async () => {
    const { email } = await signUp(identity)
    await mailServer.next(email)
    const stranger = makeEmail()
    const answers = []
    for (const address of [stranger, email]) {
      const { data: flow } = await identity.frontend.createNativeVerificationFlow()
      answers.push(await submit(flow.id, { method: 'code', email: address }))
    }
    const [unknown, known] = answers
    expect([unknown?.status, known?.status]).toEqual([200, 200])
    expect(unknown?.json.ui.messages).toEqual(known?.json.ui.messages)
    expect(unknown?.json.state).toBe(known?.json.state)
    await mailServer.next(email)
    expect(mailServer.mails.some((mail) => mail.to?.some(({ address }) => address === stranger))).toBe(false)
  })

  it('reports at the field what is wrong with the address', async () => {
    const { data: flow } = await identity.frontend.createNativeVerificationFlow()
    const missing = await submit(flow.id, { method: 'code' })
    expect([missing.status, messageIds(missing.json, 'email')]).toEqual([400, [4000002]])
    const wrong = await submit(flow.id, { method: 'code', email: 'nope' })
    expect([wrong.status, messageIds(wrong.json, 'email')]).toEqual([400, [4000001]])
    const method = await submit(flow.id, { method: 'link', email: 'ada@example.com' })
    expect([method.status, messageIds(method.json)]).toEqual([400, [4010006]])
  })

  it('redirects to a new flow when it is submitted too late', async () => {
    const { data: flow } = await identity.frontend.createNativeVerificationFlow()
    await identity.sql(`update identity.flows set expires_at = now() - interval '1 second' where id = $1`, [flow.id])
    const late = await submit(flow.id, { method: 'code', email: 'ada@example.com' })
    expect(late.status).toBe(303)
    expect(late.location).toMatch(new RegExp(`^${consoleUrl}/kratos/self-service/verification/flows\\?id=`))
    const read = await identity.browser().ask(`/self-service/verification/flows?id=${flow.id}`)
    expect(read.status).toBe(410)
  })

  it('needs the csrf token of its browser', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<VerificationFlow>('/self-service/verification/browser')
    const answer = await browser.ask(`/self-service/verification?flow=${flow.id}`, {
      json: { method: 'code', email: 'ada@example.com' },
    })
    expect(answer.status).toBe(403)
    expect(answer.json).toMatchObject({ error: { id: 'security_csrf_violation' } })
  })
})

describe('verification without a mail server', () => {
  it('reports that there is nothing to verify', async () => {
    const plain = await startTestIdentity()
    try {
      const answer = await plain.browser().ask('/self-service/verification/api')
      expect(answer.status).toBe(400)
      expect(answer.json).toMatchObject({ error: { id: 'self_service_flow_disabled' } })
    } finally {
      await plain.stop()
    }
  })
})
