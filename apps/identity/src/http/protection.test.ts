import type { LoginFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser, getCsrfToken, messageIds } from '../../test/browser.ts'
import {
  adminToken,
  consoleUrl,
  goodPassword,
  signUp,
  startTestIdentity,
  type TestIdentity,
} from '../../test/identity.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

const loginPage = '/self-service/login/browser'
async function openLogin(browser = identity.browser()) {
  const { json: flow } = await browser.ask<LoginFlow>(loginPage)
  return { browser, flow, path: `/self-service/login?flow=${flow.id}` }
}

describe('a browser flow', () => {
  it('is not shown to another browser', async () => {
    const { flow } = await openLogin()
    const answer = await identity.browser().ask(`/self-service/login/flows?id=${flow.id}`)
    expect(answer.status).toBe(403)
    expect(answer.json).toMatchObject({ error: { id: 'security_csrf_violation', code: 403 } })
  })

  it('is refused without its csrf token, with that of another browser, and with one that is only in a header', async () => {
    const { browser, path } = await openLogin()
    const { flow: foreign } = await openLogin()
    const fields = { method: 'password', identifier: 'a@example.com', password: goodPassword }
    for (const csrf_token of [undefined, '', 'nonsense', getCsrfToken(foreign)])
      expect((await browser.ask(path, { json: { ...fields, csrf_token } })).status).toBe(403)
    const { flow } = await openLogin(browser)
    const header = await browser.ask(path, { json: fields, headers: { 'x-csrf-token': getCsrfToken(flow) } })
    expect(header.status).toBe(403)
    expect((await browser.ask(path, { json: { ...fields, csrf_token: getCsrfToken(flow) } })).status).toBe(400)
  })

  it('has a newly masked token in every answer', async () => {
    const { browser, flow } = await openLogin()
    const { json: again } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${flow.id}`)
    expect(getCsrfToken(again)).not.toBe(getCsrfToken(flow))
  })

  it('redirects a page without the token to the error page, which can read the error', async () => {
    const { browser, path } = await openLogin()
    const answer = await browser.page(path, { form: { method: 'password' } })
    expect(answer.status).toBe(303)
    expect(answer.location).toMatch(new RegExp(`^${consoleUrl}/error\\?id=`))
    const id = new URL(answer.location ?? '').searchParams.get('id')
    const stored = await identity.browser().ask(`/self-service/errors?id=${id}`)
    expect(stored.json).toMatchObject({ id, error: { code: 403, id: 'security_csrf_violation' } })
  })
})

describe('an API flow', () => {
  it.each(['cookie', 'origin'])('is blocked for a request with the header %s', async (name) => {
    const { json: flow } = await identity.browser().ask<LoginFlow>('/self-service/login/api')
    const answer = await identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
      json: { method: 'password', identifier: 'a@example.com', password: goodPassword },
      headers: { [name]: name === 'cookie' ? 'a=b' : consoleUrl },
    })
    expect(answer.status).toBe(400)
    expect(messageIds(answer.json)).toEqual([4000001])
  })

  it('answers every client with JSON', async () => {
    const { json: flow } = await identity.browser().ask<LoginFlow>('/self-service/login/api')
    const answer = await identity
      .browser()
      .page(`/self-service/login?flow=${flow.id}`, { form: { method: 'password' } })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ id: flow.id })
  })
})

describe('a request with cookies', () => {
  it.each([
    [{ origin: 'http://evil.test' }, 403],
    [{ origin: 'http://localhost:8000.evil.test' }, 403],
    [{ origin: 'http://localhost:9000' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, 403],
    [{ origin: consoleUrl, 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin: 'http://127.0.0.1:8000' }, 200],
    [{ origin: 'http://[::1]:8000' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{}, 200],
  ] as [Record<string, string>, number][])('and the origin headers %j is answered with %i', async (headers, status) => {
    const { token } = await signUp(identity)
    const browser = identity.browser()
    browser.cookies.set('ory_kratos_session', token)
    expect((await browser.ask('/sessions', { method: 'DELETE', headers })).status).toBe(status)
  })
})

describe('cookies', () => {
  it('are HttpOnly, SameSite=Lax, valid for the whole site, and Secure under TLS', async () => {
    const [plain] = (await identity.browser().ask(loginPage)).setCookies
    expect(plain).toMatch(
      /^csrf_token_[0-9a-f]{64}=[A-Za-z0-9+/]{43}=; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
    )
    const secured = await startTestIdentity({ CRUX_URL: 'https://crux.example.com', CRUX_RATE_LIMITS: 'on' })
    try {
      const [cookie] = (await secured.browser().ask(loginPage)).setCookies
      expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=Lax$/)
    } finally {
      await secured.stop()
    }
  })

  it('against csrf are set by pages and flow requests, and not by endpoints for programs', async () => {
    const set = async (path: string) => (await identity.browser().ask(path)).setCookies.length
    for (const path of [loginPage, '/self-service/login/flows?id=x', '/schemas', '/nowhere'])
      expect(await set(path)).toBe(1)
    for (const path of ['/health/alive', '/sessions/whoami', '/self-service/login/api', '/schemas/default'])
      expect(await set(path)).toBe(0)
  })
})

describe('the return address of a flow', () => {
  it.each([
    'http://evil.test/',
    '//evil.test',
    '/\\evil.test',
    'javascript:alert(1)',
    `${consoleUrl}@evil.test/`,
    'https://localhost:8000/',
  ])('is refused when it is %s', async (target) => {
    const answer = await identity.browser().ask(`${loginPage}?return_to=${encodeURIComponent(target)}`)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error: { id: 'self_service_flow_return_to_forbidden' } })
  })

  it.each(['/projects', `${consoleUrl}/projects?a=b`, 'projects'])('is allowed when it is %s', async (target) => {
    const answer = await identity.browser().ask(`${loginPage}?return_to=${encodeURIComponent(target)}`)
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ return_to: target })
  })
})

describe('request bodies', () => {
  it.each([
    ['broken JSON', '{"a', 'application/json'],
    ['a list', '[]', 'application/json'],
    ['null', 'null', 'application/json'],
    ['nothing', '', 'application/json'],
    ['text', 'a=b', 'text/plain'],
    ['a null character', '{"method":"password","identifier":"a\\u0000b"}', 'application/json'],
    ['half a character', '{"method":"password","identifier":"\\ud800"}', 'application/json'],
    ['a null character in a form', 'method=password&identifier=%00', 'application/x-www-form-urlencoded'],
    ['lists without end', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'application/json'],
    ['a form with files', '--x--', 'multipart/form-data; boundary=x'],
  ])('with %s are reported in the flow', async (_what, body, type) => {
    const { json: flow } = await identity.browser().ask<LoginFlow>('/self-service/login/api')
    const answer = await identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(400)
    expect(messageIds(answer.json)).toEqual([4000001])
  })

  it('of administrators are validated in the same way', async () => {
    const admin = new Browser(identity.adminUrl, { authorization: `Bearer ${adminToken}` })
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '{"traits":{"email":"a\\u0000@b.c"}}',
      '{"traits":{},"metadata_public":"\\ud800"}',
    ]
    for (const body of bodies) expect((await admin.ask('/admin/identities', { method: 'POST', body })).status).toBe(400)
    expect((await admin.ask('/admin/identities?credentials_identifier=%00')).status).toBe(400)
  })

  it('above 64 kB are answered with 413', async () => {
    const { json: flow } = await identity.browser().ask<LoginFlow>('/self-service/login/api')
    const answer = await identity.browser().ask(`/self-service/login?flow=${flow.id}`, {
      json: { method: 'password', identifier: 'a@example.com', password: 'x'.repeat(66_000) },
    })
    expect(answer.status).toBe(413)
    expect(answer.json).toMatchObject({ error: { code: 413 } })
  })

  it('cannot reach the prototype of objects', async () => {
    const { json: flow } = await identity.browser().ask<LoginFlow>('/self-service/login/api')
    const body =
      '{"method":"password","__proto__.polluted":1,"constructor.prototype.polluted":1,"__proto__":{"polluted":1}}'
    await identity
      .browser()
      .ask(`/self-service/login?flow=${flow.id}`, { body, headers: { 'content-type': 'application/json' } })
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('request paths', () => {
  it('of the admin API do not exist on the public port', async () => {
    const headers = { authorization: `Bearer ${adminToken}` }
    for (const path of ['/admin/identities', '/identities', '/admin/sessions', '/version'])
      expect((await identity.browser().ask(path, { headers })).status).toBe(404)
  })

  it('that are unknown or have a wrong method or trailing slash are answered as by Ory Kratos', async () => {
    const browser = identity.browser()
    const unknown = await browser.ask('/nowhere')
    expect([unknown.status, unknown.text]).toEqual([404, '404 page not found\n'])
    const method = await browser.ask('/self-service/login', { method: 'DELETE' })
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, OPTIONS, POST'])
    const slash = await browser.ask('/self-service/login/browser/?a=b')
    expect([slash.status, slash.location]).toEqual([301, '/self-service/login/browser?a=b'])
    const double = await browser.ask('//evil.test/')
    expect(double.status).toBe(404)
    const options = await browser.ask('/sessions', { method: 'OPTIONS', headers: { origin: 'http://evil.test' } })
    expect([options.status, options.headers.get('allow')]).toEqual([200, 'DELETE, GET, OPTIONS'])
    expect(options.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('are not cached, except for health', async () => {
    const flow = await identity.browser().ask('/self-service/login/api')
    expect(flow.headers.get('cache-control')).toBe('private, no-cache, no-store, must-revalidate')
    expect((await identity.browser().ask('/health/ready')).headers.get('cache-control')).toBeNull()
  })
})

describe('the admin port', () => {
  it('answers health checks of every client, and other requests only with the admin token', async () => {
    const ask = (path: string, token?: string) =>
      new Browser(identity.adminUrl).ask(path, token ? { headers: { authorization: `Bearer ${token}` } } : {})
    expect((await ask('/health/ready')).status).toBe(200)
    for (const token of [undefined, 'wrong', `${adminToken}x`, adminToken.slice(1)])
      for (const path of ['/admin/identities', '/version', '/nowhere', '/admin/sessions'])
        expect((await ask(path, token)).status).toBe(401)
    expect((await ask('/admin/identities', adminToken)).status).toBe(200)
    expect((await ask('/version', adminToken)).json).toEqual({ version: '1.0.0' })
  })
})
