import { listen } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import type { LogoutFlow, RegistrationFlow, Session } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken } from '../../test/browser.ts'
import {
  consoleUrl,
  goodPassword,
  makeEmail,
  signUp,
  startTestIdentity,
  type TestIdentity,
} from '../../test/identity.ts'
import { sessionChannel } from './store.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

async function signInAgain(email: string): Promise<string> {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  const { data } = await identity.frontend.updateLoginFlow({
    flow: flow.id,
    updateLoginFlowBody: { method: 'password', identifier: email, password: goodPassword },
  })
  return data.session_token ?? ''
}

async function signedInBrowser(): Promise<Browser> {
  const browser = identity.browser()
  const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
  await browser.ask(`/self-service/registration?flow=${flow.id}`, {
    json: {
      method: 'password',
      csrf_token: getCsrfToken(flow),
      password: goodPassword,
      traits: { email: makeEmail() },
    },
  })
  return browser
}

const ask = (token: string, path: string, method = 'GET') =>
  identity.browser({ 'x-session-token': token }).ask(path, { method })
const whoami = async (token: string) => (await ask(token, '/sessions/whoami')).status

describe('whoami', () => {
  it('accepts a token in its header or as bearer in any case, and returns the identity in a header', async () => {
    const { token, id } = await signUp(identity)
    const ways: Record<string, string>[] = [{ 'x-session-token': token }, { authorization: `bEaReR ${token}` }]
    for (const headers of ways) {
      const answer = await identity.browser().ask<Session>('/sessions/whoami', { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-kratos-authenticated-identity-id')).toBe(id)
      expect(answer.json).toMatchObject({ active: true, identity: { id }, devices: [{ ip_address: '127.0.0.1' }] })
      expect(answer.json.identity).not.toHaveProperty('metadata_admin')
      expect(answer.json.identity).not.toHaveProperty('credentials')
    }
  })

  it('accepts any method', async () => {
    const { token } = await signUp(identity)
    for (const method of ['POST', 'HEAD', 'PUT', 'OPTIONS'])
      expect((await ask(token, '/sessions/whoami', method)).status).toBe(200)
  })

  it('answers 401 without an id for a missing, wrong, expired and revoked session', async () => {
    const expired = await signUp(identity)
    await identity.sql(`update identity.sessions set expires_at = now() where identity_id = $1`, [expired.id])
    const revoked = await signUp(identity)
    await identity.admin.disableSession({ id: revoked.registration.session?.id ?? '' })
    const bodies = []
    for (const token of ['', 'ory_st_wrong', expired.token, revoked.token]) {
      const answer = await ask(token, '/sessions/whoami')
      expect(answer.status).toBe(401)
      bodies.push(answer.text)
    }
    expect(new Set(bodies).size).toBe(1)
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      error: {
        code: 401,
        status: 'Unauthorized',
        message: 'The request could not be authorized',
        reason: 'No valid session credentials found in the request.',
      },
    })
  })

  it('does not let a valid cookie replace an invalid token', async () => {
    const browser = await signedInBrowser()
    expect((await browser.ask('/sessions/whoami')).status).toBe(200)
    expect((await browser.ask('/sessions/whoami', { headers: { 'x-session-token': 'bad' } })).status).toBe(401)
    expect((await browser.ask('/sessions/whoami', { headers: { authorization: 'Bearer bad' } })).status).toBe(200)
  })

  it('is one index lookup', async () => {
    const plan = await identity.sql<{ 'QUERY PLAN': string }>(
      `explain select 1 from identity.sessions where token_hash = '\\x00'`,
    )
    expect(plan[0]?.['QUERY PLAN']).toContain('sessions_token_hash_unique')
  })
})

describe('the sessions of a user', () => {
  it('are listed without the current one and without their tokens', async () => {
    const { email, token } = await signUp(identity)
    const other = await signInAgain(email)
    const answer = await ask(token, '/sessions')
    const sessions = answer.json as Session[]
    expect(answer.headers.get('x-total-count')).toBe('1')
    expect(sessions).toHaveLength(1)
    expect(sessions[0]?.identity).not.toHaveProperty('verifiable_addresses')
    expect(answer.text).not.toContain(other)
    const { data: mine } = await identity.frontend.toSession({ xSessionToken: token })
    expect(sessions[0]?.id).not.toBe(mine.id)
  })

  it('are ended one by one, without revealing sessions of other users or ending the current one', async () => {
    const { email, token, registration } = await signUp(identity)
    const other = await signInAgain(email)
    const stranger = await signUp(identity)
    const { data: otherSession } = await identity.frontend.toSession({ xSessionToken: other })
    expect((await ask(token, `/sessions/${otherSession.id}`, 'DELETE')).status).toBe(204)
    expect(await whoami(other)).toBe(401)
    expect((await ask(token, `/sessions/${stranger.registration.session?.id}`, 'DELETE')).status).toBe(204)
    expect(await whoami(stranger.token)).toBe(200)
    expect((await ask(token, `/sessions/${registration.session?.id}`, 'DELETE')).status).toBe(400)
    expect((await ask(token, '/sessions/nonsense', 'DELETE')).status).toBe(400)
    expect(await whoami(token)).toBe(200)
  })

  it('are ended together, except for the current one', async () => {
    const { email, token } = await signUp(identity)
    const others = [await signInAgain(email), await signInAgain(email)]
    const answer = await ask(token, '/sessions', 'DELETE')
    expect([answer.status, answer.json]).toEqual([200, { count: 2 }])
    for (const other of others) expect(await whoami(other)).toBe(401)
    expect(await whoami(token)).toBe(200)
  })

  it('notify listeners at the commit when a session ends', async () => {
    const heard: string[] = []
    const log = createLogger({ name: 'test', level: 'silent' })
    const listener = listen({
      url: identity.databaseUrl,
      channel: sessionChannel,
      onMessage: (id) => heard.push(id),
      log,
    })
    await listener.ready
    const { token, registration } = await signUp(identity)
    await identity.browser().ask('/self-service/logout/api', { method: 'DELETE', json: { session_token: token } })
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([registration.session?.id])
    const deleted = await signUp(identity)
    await identity.admin.deleteIdentity({ id: deleted.id })
    await expect.poll(() => heard, { timeout: 15_000 }).toContain(deleted.registration.session?.id)
    await listener.stop()
  })
})

describe('signing out', () => {
  it('of an API client is answered with 204, also when repeated, and with 403 for an unknown token', async () => {
    const { token } = await signUp(identity)
    const signOut = (body: Parameters<Browser['ask']>[1]) =>
      identity.browser().ask('/self-service/logout/api', { method: 'DELETE', ...body })
    expect((await signOut({ json: { session_token: token, extra: 1 } })).status).toBe(204)
    expect(await whoami(token)).toBe(401)
    expect((await signOut({ json: { session_token: token } })).status).toBe(204)
    expect((await signOut({ json: { session_token: 'ory_st_nobody' } })).status).toBe(403)
    expect((await signOut({ json: {} })).status).toBe(403)
    expect((await signOut({ body: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400)
  })

  it('of a browser needs an address with a token that is only valid for its session', async () => {
    const browser = await signedInBrowser()
    const stranger = await signedInBrowser()
    const { json: logout } = await browser.ask<LogoutFlow>('/self-service/logout/browser?return_to=/bye')
    expect(logout.logout_token).toMatch(/^ory_lo_[A-Za-z0-9]{32}$/)
    const path = logout.logout_url.slice(`${consoleUrl}/kratos`.length)
    expect((await stranger.ask(path)).status).toBe(403)
    expect((await browser.ask('/self-service/logout')).status).toBe(400)
    expect((await browser.ask('/sessions/whoami')).status).toBe(200)

    const token = browser.sessionCookie
    const done = await browser.page(path)
    expect([done.status, done.location]).toEqual([303, `${consoleUrl}/bye`])
    expect(browser.sessionCookie).toBeUndefined()
    expect(await whoami(token ?? '')).toBe(401)
    const again = await browser.ask(path)
    expect(again.status).toBe(401)
    expect(again.json).toMatchObject({ error: { id: 'session_inactive' } })
  })

  it('redirects to the sign-in page when no other page was requested', async () => {
    const browser = await signedInBrowser()
    const { json: logout } = await browser.ask<LogoutFlow>('/self-service/logout/browser')
    const done = await browser.page(logout.logout_url.slice(`${consoleUrl}/kratos`.length))
    expect(done.location).toBe(`${consoleUrl}/auth/login`)
  })
})
