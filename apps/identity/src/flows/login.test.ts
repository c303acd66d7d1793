import type { LoginFlow, Session, SuccessfulNativeLogin } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken, getInput, messageIds } from '../../test/browser.ts'
import {
  consoleUrl,
  goodPassword,
  signUp,
  startTestIdentity,
  type TestIdentity,
  type TestUser,
} from '../../test/identity.ts'

let identity: TestIdentity
let user: TestUser
beforeAll(async () => {
  identity = await startTestIdentity()
  user = await signUp(identity)
})
afterAll(() => identity.stop())

async function submit(fields: Record<string, unknown>) {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  return identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, { json: fields })
}

async function signIn(browser: Browser, path = '/self-service/login/browser') {
  const { json: flow } = await browser.ask<LoginFlow>(path)
  const fields = { method: 'password', identifier: user.email, password: goodPassword, csrf_token: getCsrfToken(flow) }
  return browser.ask<SuccessfulNativeLogin>(`/self-service/login?flow=${flow.id}`, { json: fields })
}

describe('signing in as an API client', () => {
  it('returns a token with which whoami returns the user', async () => {
    const { data: flow } = await identity.frontend.createNativeLoginFlow()
    const { data, status } = await identity.frontend.updateLoginFlow({
      flow: flow.id,
      updateLoginFlowBody: {
        method: 'password',
        identifier: ` ${user.email.toUpperCase()} `,
        password: goodPassword,
      },
    })
    expect(status).toBe(200)
    expect(data).toHaveProperty('continue_with', null)
    const { data: session } = await identity.frontend.toSession({ xSessionToken: data.session_token })
    expect(session.identity?.id).toBe(user.id)
    expect(session.id).toBe(data.session.id)
  })

  it('accepts the legacy name of the identifier field', async () => {
    const { status } = await submit({ method: 'password', password_identifier: user.email, password: goodPassword })
    expect(status).toBe(200)
  })

  it('gets the same answer for a wrong password and an unknown user, except for the typed name', async () => {
    const wrong = await submit({ method: 'password', identifier: user.email, password: 'not my password' })
    const unknown = await submit({ method: 'password', identifier: 'nobody@example.com', password: 'not my password' })
    expect([wrong.status, unknown.status]).toEqual([400, 400])
    expect(messageIds(wrong.json)).toEqual([4000006])
    expect(unknown.json.ui.messages).toEqual(wrong.json.ui.messages)
    expect(getInput(unknown.json.ui, 'identifier')?.value).toBe('nobody@example.com')
  })

  it('reports which fields are missing', async () => {
    const { status, json } = await submit({ method: 'password' })
    expect(status).toBe(400)
    expect(messageIds(json, 'identifier')).toEqual([4000002])
    expect(messageIds(json, 'password')).toEqual([4000002])
  })

  it.each([
    ['an unknown method', { method: 'magic' }, 4010002],
    ['no method', {}, 4010002],
  ])('is refused with %s', async (_what, fields, id) => {
    const { status, json } = await submit(fields)
    expect(status).toBe(400)
    expect(messageIds(json)).toEqual([id])
  })

  it('reveals that an identity is disabled only with its right password', async () => {
    const other = await signUp(identity)
    await identity.admin.patchIdentity({
      id: other.id,
      jsonPatch: [{ op: 'replace', path: '/state', value: 'inactive' }],
    })
    const right = await submit({ method: 'password', identifier: other.email, password: goodPassword })
    expect(right.status).toBe(401)
    expect(right.json).toMatchObject({ error: { code: 401, message: 'identity is disabled' } })
    const wrong = await submit({ method: 'password', identifier: other.email, password: 'not my password' })
    expect(wrong.status).toBe(400)
    expect(messageIds(wrong.json)).toEqual([4000006])
  })
})

describe('signing in with a browser', () => {
  it('sets the session cookie and returns the address to continue at', async () => {
    const browser = identity.browser()
    const answer = await signIn(browser, '/self-service/login/browser?return_to=/projects')
    expect(answer.status).toBe(200)
    expect(answer.json).not.toHaveProperty('session_token')
    expect(answer.json.continue_with).toEqual([
      { action: 'redirect_browser_to', redirect_browser_to: `${consoleUrl}/projects` },
    ])
    const cookie = answer.setCookies.find((line) => line.startsWith('ory_kratos_session='))
    expect(cookie).toMatch(/^ory_kratos_session=\S+; Path=\/; Expires=[^;]+; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const whoami = await browser.ask<Session>('/sessions/whoami')
    expect(whoami.json.identity?.id).toBe(user.id)
  })

  it('redirects a page to its flow, to the error in it, and finally to the page it came from', async () => {
    const browser = identity.browser()
    const init = await browser.page('/self-service/login/browser?return_to=/projects')
    const id = new URL(init.location ?? '').searchParams.get('flow')
    expect([init.status, init.location]).toEqual([303, `${consoleUrl}/auth/login?flow=${id}`])
    const { json: flow } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${id}`)
    const form = {
      method: 'password',
      identifier: user.email,
      password: 'not my password',
      csrf_token: getCsrfToken(flow),
    }
    const refused = await browser.page(`/self-service/login?flow=${id}`, { form })
    expect([refused.status, refused.location]).toEqual([303, `${consoleUrl}/auth/login?flow=${id}`])
    const done = await browser.page(`/self-service/login?flow=${id}`, { form: { ...form, password: goodPassword } })
    expect([done.status, done.location]).toEqual([303, `${consoleUrl}/projects`])
  })

  it('is refused with a session, unless a refresh is requested', async () => {
    const browser = identity.browser()
    await signIn(browser)
    const again = await browser.ask('/self-service/login/browser')
    expect(again.status).toBe(400)
    expect(again.json).toMatchObject({ error: { id: 'session_already_available' } })
    const page = await browser.page('/self-service/login/browser?return_to=/x')
    expect([page.status, page.location]).toEqual([303, `${consoleUrl}/x`])
  })

  it('keeps session and token when the user authenticates again', async () => {
    const browser = identity.browser()
    await signIn(browser)
    const before = (await browser.ask<Session>('/sessions/whoami')).json
    const cookie = browser.sessionCookie
    const refreshed = await signIn(browser, '/self-service/login/browser?refresh=true')
    expect(refreshed.status).toBe(200)
    const after = (await browser.ask<Session>('/sessions/whoami')).json
    expect(after.id).toBe(before.id)
    expect(browser.sessionCookie).toBe(cookie)
    expect(after.authentication_methods).toHaveLength(2)
    expect(Date.parse(after.authenticated_at ?? '')).toBeGreaterThan(Date.parse(before.authenticated_at ?? ''))
  })

  it('requires a session before it requests a second factor', async () => {
    const stranger = await identity.browser().ask('/self-service/login/browser?aal=aal2')
    expect(stranger.status).toBe(401)
    expect(stranger.json).toMatchObject({ error: { id: 'session_aal1_required' } })
    const browser = identity.browser()
    await signIn(browser)
    const { json: flow } = await browser.ask<LoginFlow>('/self-service/login/browser?aal=aal2')
    expect(messageIds(flow)).toEqual([1010004])
    expect(flow.ui.nodes.map(({ attributes }) => 'name' in attributes && attributes.name)).toEqual(['csrf_token'])
  })
})

describe('a flow that has expired', () => {
  it('is answered with 410 when read and leads to a new flow when submitted', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<LoginFlow>('/self-service/login/browser?return_to=/x')
    await identity.sql(`update identity.flows set expires_at = now() - interval '1 minute' where id = $1`, [flow.id])
    const read = await browser.ask(`/self-service/login/flows?id=${flow.id}`)
    expect(read.status).toBe(410)
    expect(read.json).toMatchObject({ error: { id: 'self_service_flow_expired' } })
    expect(read.json).not.toHaveProperty('use_flow_id')

    const fields = {
      method: 'password',
      identifier: user.email,
      password: goodPassword,
      csrf_token: getCsrfToken(flow),
    }
    const submitted = await browser.ask<{ use_flow_id: string; since: number; expired_at: string }>(
      `/self-service/login?flow=${flow.id}`,
      { json: fields },
    )
    expect(submitted.status).toBe(410)
    expect(submitted.json.since).toBeGreaterThan(59e9)
    const { json: next } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${submitted.json.use_flow_id}`)
    expect(messageIds(next)).toEqual([4010001])
    expect(next.return_to).toBe('/x')
    const page = await browser.page(`/self-service/login?flow=${flow.id}`, { form: { method: 'password' } })
    expect(page.status).toBe(303)
    expect(page.location).not.toContain(flow.id)
  })

  it('an unknown flow is answered with 404, and a missing id is malformed', async () => {
    const unknown = await submitTo('11111111-1111-4111-8111-111111111111')
    const malformed = await submitTo('nonsense')
    expect([unknown.status, malformed.status]).toEqual([404, 400])
  })

  const submitTo = (id: string) =>
    identity.browser().ask(`/self-service/login?flow=${id}`, { json: { method: 'password' } })
})
