import type { RegistrationFlow, SuccessfulNativeRegistration } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getCsrfToken, getInput, messageIds } from '../../test/browser.ts'
import {
  consoleUrl,
  goodPassword,
  makeEmail,
  signUp,
  startTestIdentity,
  type TestIdentity,
} from '../../test/identity.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

async function submit(fields: Record<string, unknown>) {
  const browser = identity.browser()
  const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/api')
  return browser.ask<RegistrationFlow>(`/self-service/registration?flow=${flow.id}`, { json: fields })
}

describe('signing up as an API client', () => {
  it('returns a session token, the session and the identity', async () => {
    const email = makeEmail().toUpperCase()
    const { registration, token } = await signUp(identity, email)
    expect(token).toMatch(/^ory_st_[A-Za-z0-9]{32}$/)
    expect(registration.continue_with).toEqual([{ action: 'set_ory_session_token', ory_session_token: token }])
    expect(registration.identity.traits).toEqual({ email, name: { first: 'Ada', last: 'Byron' } })
    expect(registration.session).toMatchObject({ active: true, authenticator_assurance_level: 'aal1' })
    expect(registration.session?.authentication_methods).toMatchObject([{ method: 'password', aal: 'aal1' }])
  })

  it('counts addresses as verified and converts them to lower case while no mail server is configured', async () => {
    const email = makeEmail().toUpperCase()
    const { registration } = await signUp(identity, email)
    const [address] = registration.identity.verifiable_addresses ?? []
    expect(address).toMatchObject({ value: email.toLowerCase(), verified: true, status: 'completed', via: 'email' })
    expect(address?.verified_at).toBeTruthy()
  })

  it('stores neither the password nor the token', async () => {
    const user = await signUp(identity)
    const rows = await identity.sql(
      'select * from identity.sessions, identity.credentials where sessions.identity_id = $1',
      [user.id],
    )
    const stored = JSON.stringify(rows)
    expect(rows.length).toBeGreaterThan(0)
    expect(stored).not.toContain(goodPassword)
    expect(stored).not.toContain(user.token)
    expect(stored).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
  })

  it('accepts dotted names and stores omitted groups as empty', async () => {
    const email = makeEmail()
    const answer = await submit({ method: 'password', password: goodPassword, 'traits.email': email })
    expect(answer.status).toBe(200)
    const { identity: made } = answer.json as unknown as SuccessfulNativeRegistration
    expect(made.traits).toEqual({ email, name: {} })
  })

  it('refuses an address that is taken in any capitals, and removes the typed password', async () => {
    const { email } = await signUp(identity)
    const answer = await submit({ method: 'password', password: goodPassword, traits: { email: email.toUpperCase() } })
    expect(answer.status).toBe(400)
    expect(messageIds(answer.json)).toEqual([4000007])
    expect(getInput(answer.json.ui, 'traits.email')?.value).toBeUndefined()
  })

  it('lets only one of two concurrent sign-ups have the address', async () => {
    const email = makeEmail()
    const fields = { method: 'password', password: goodPassword, traits: { email } }
    const answers = await Promise.all([submit(fields), submit(fields), submit(fields)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    const rows = await identity.sql('select 1 from identity.identities where traits->>$2 = $1', [email, 'email'])
    expect(rows).toHaveLength(1)
  })

  it.each([
    ['a short password', { password: 'short' }, 'password', [4000032]],
    ['a password like the address', { password: 'ada.byron@example.co' }, 'password', [4000031]],
    ['a common password', { password: 'Password123' }, 'password', [4000034]],
    ['an endless password', { password: 'x'.repeat(1025) }, 'password', [4000033]],
    ['no password', { password: '' }, 'password', [4000002]],
    ['an empty address', { traits: { email: '' } }, 'traits.email', [4000001, 4000003]],
    ['no address', { traits: {} }, 'traits.email', [4000002]],
    ['an address without @', { traits: { email: 'ada' } }, 'traits.email', [4000001]],
    ['an address with a line break', { traits: { email: 'a@b.c\nBcc: x@y.z' } }, 'traits.email', [4000001]],
    ['a number for an address', { traits: { email: 5 } }, 'traits.email', [4000026]],
    ['an unknown trait', { traits: { email: 'ada.byron@example.com', admin: true } }, 'traits', [4000001]],
    ['a text for the name', { traits: { email: 'ada.byron@example.com', name: 'Ada' } }, 'traits.name', [4000026]],
  ])('reports at the field that it refuses %s', async (_what, fields, field, ids) => {
    const valid = { method: 'password', password: goodPassword, traits: { email: 'ada.byron@example.com' } }
    const { status, json } = await submit({ ...valid, ...fields })
    expect(status).toBe(400)
    expect(messageIds(json, field)).toEqual(ids)
    expect(messageIds(json)).toEqual([])
    const rows = await identity.sql(
      `select 1 from identity.identities where traits->>'email' = 'ada.byron@example.com'`,
    )
    expect(rows).toHaveLength(0)
  })

  it('refuses an unknown sign-up method', async () => {
    const { status, json } = await submit({ method: 'magic', traits: { email: makeEmail() } })
    expect(status).toBe(400)
    expect(messageIds(json)).toEqual([4010003])
  })

  it('is not possible with a session', async () => {
    const { token } = await signUp(identity)
    const answer = await identity.browser({ 'x-session-token': token }).ask('/self-service/registration/api')
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error: { id: 'session_already_available', code: 400, status: 'Bad Request' } })
  })
})

describe('signing up in a browser', () => {
  it('shows the form of the schema with labels, groups and a csrf token', async () => {
    const { json: flow } = await identity.browser().ask<RegistrationFlow>('/self-service/registration/browser')
    const fields = flow.ui.nodes.map(({ group, attributes }) => [group, 'name' in attributes ? attributes.name : ''])
    expect(fields).toEqual([
      ['default', 'traits.email'],
      ['default', 'traits.name.first'],
      ['default', 'traits.name.last'],
      ['default', 'csrf_token'],
      ['webauthn', ''],
      ['passkey', 'passkey_register'],
      ['passkey', 'passkey_register_trigger'],
      ['passkey', 'passkey_create_data'],
      ['password', 'password'],
      ['password', 'method'],
    ])
    expect(flow).toMatchObject({ type: 'browser', state: 'choose_method', organization_id: null })
    expect(flow).not.toHaveProperty('created_at')
    expect(flow.ui).not.toHaveProperty('messages')
    expect(flow.ui.action).toBe(`${consoleUrl}/kratos/self-service/registration?flow=${flow.id}`)
    expect(getCsrfToken(flow)).toMatch(/^[A-Za-z0-9+/]{86}==$/)
  })

  it('sets the session cookie, rotates the csrf cookie and returns no token', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser?return_to=/welcome')
    const before = [...browser.cookies.values()]
    const submitted = {
      method: 'password',
      csrf_token: getCsrfToken(flow),
      password: goodPassword,
      traits: { email: makeEmail() },
    }
    const path = `/self-service/registration?flow=${flow.id}`
    const answer = await browser.ask<SuccessfulNativeRegistration>(path, { json: submitted })
    expect(answer.status).toBe(200)
    expect(answer.json).not.toHaveProperty('session_token')
    expect(answer.json.continue_with).toEqual([
      { action: 'redirect_browser_to', redirect_browser_to: `${consoleUrl}/welcome` },
    ])
    expect(before).toHaveLength(1)
    expect([...browser.cookies.values()]).not.toContain(before[0])
    const whoami = await browser.ask<{ identity: { id: string } }>('/sessions/whoami')
    expect(whoami.json.identity.id).toBe(answer.json.identity.id)

    const later = await identity.browser().ask(path, { json: submitted })
    expect(later.status).toBe(403)
  })

  it('redirects to the page of the flow and back to it with the errors, without JSON', async () => {
    const browser = identity.browser()
    const init = await browser.page('/self-service/registration/browser')
    expect(init.status).toBe(303)
    expect(init.location).toMatch(new RegExp(`^${consoleUrl}/auth/register\\?flow=`))
    const id = new URL(init.location ?? '').searchParams.get('flow')
    const { json: flow } = await browser.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    const email = makeEmail()
    const form = { method: 'password', csrf_token: getCsrfToken(flow), 'traits.email': email, password: 'short' }
    const refused = await browser.page(`/self-service/registration?flow=${id}`, { form })
    expect([refused.status, refused.location]).toEqual([302, `${consoleUrl}/auth/register?flow=${id}`])
    const { json: again } = await browser.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    expect(messageIds(again, 'password')).toEqual([4000032])
    expect(getInput(again.ui, 'traits.email')?.value).toBe(email)
    const done = await browser.page(`/self-service/registration?flow=${id}`, {
      form: { ...form, password: goodPassword },
    })
    expect([done.status, done.location]).toEqual([303, `${consoleUrl}/`])
    expect(browser.sessionCookie).toBeTruthy()
  })
})

describe('signing up with registration disabled', () => {
  it('is refused when it starts and when it is submitted', async () => {
    const closed = await startTestIdentity({ DISABLE_REGISTRATION: 'true' })
    try {
      for (const path of ['/self-service/registration/api', '/self-service/registration/browser']) {
        const answer = await closed.browser().ask(path)
        expect(answer.status).toBe(400)
        expect(answer.json).toMatchObject({ error: { id: 'self_service_flow_disabled' } })
      }
    } finally {
      await closed.stop()
    }
  })
})
