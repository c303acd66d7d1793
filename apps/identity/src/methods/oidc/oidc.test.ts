import { followRedirects, type OidcServer, oidcClient, startOidcServer } from '@crux/test-kit'
import type { LoginFlow, RegistrationFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getCsrfToken, getInput, messageIds } from '../../../test/browser.ts'
import { enrolTotp, listNames, openLogin, signUpInBrowser, submitLogin } from '../../../test/factors.ts'
import { startGitHub } from '../../../test/github-server.ts'
import { consoleUrl, makeEmail, startTestIdentity, type TestIdentity } from '../../../test/identity.ts'
import { getCode, type MailServer, startMailServer } from '../../../test/mail-server.ts'
import {
  callback,
  getFlow,
  goThere,
  makeAccount,
  publicUrl,
  signInWith as visitProvider,
  whoami,
} from '../../../test/oidc-visits.ts'

let server: OidcServer
let github: Awaited<ReturnType<typeof startGitHub>>
let mails: MailServer
let identity: TestIdentity
beforeAll(async () => {
  server = await startOidcServer([callback('corp'), callback('gossip')])
  github = await startGitHub()
  mails = await startMailServer()
  const corp = { id: 'corp', label: 'ACME Corp', issuer: server.issuer, ...oidcClient }
  identity = await startTestIdentity({
    SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`,
    OIDC_PROVIDERS: JSON.stringify([corp, { ...corp, id: 'gossip', label: 'Gossip', verifiesEmail: false }]),
    OIDC_GITHUB_CLIENT_ID: oidcClient.clientId,
    OIDC_GITHUB_CLIENT_SECRET: oidcClient.clientSecret,
    OIDC_GITHUB_URL: github.url,
  })
})
afterAll(async () => {
  await identity.stop()
  await mails.close()
  await github.close()
  await server.close()
})
beforeEach(() => {
  server.refuses = false
  server.account = makeAccount()
})

const signInWith = (provider: string, browser = identity.browser(), query = '') =>
  visitProvider(provider, browser, query)

describe('signing in with a provider', () => {
  it('offers each provider by its name', async () => {
    const flow = await openLogin(identity.browser())
    const buttons = flow.ui.nodes.filter(({ group }) => group === 'oidc')
    expect(buttons.map(({ meta }) => meta.label?.context)).toEqual([
      { provider: 'GitHub', provider_id: 'github' },
      { provider: 'ACME Corp', provider_id: 'corp' },
      { provider: 'Gossip', provider_id: 'gossip' },
    ])
  })

  it('signs up an unknown user, and signs them in the next time', async () => {
    const first = await signInWith('corp', undefined, '?return_to=/projects')
    expect([first.answer.status, first.answer.location]).toEqual([303, `${consoleUrl}/projects`])
    const session = await whoami(first.browser)
    expect(session.identity?.traits).toEqual({
      email: server.account.email,
      name: { first: 'Ada', last: 'Byron' },
    })
    expect(session.identity?.verifiable_addresses?.[0]?.verified).toBe(true)
    const ways = session.authentication_methods?.map(({ method, provider }) => [method, provider])
    expect(ways).toEqual([['oidc', 'corp']])
    const second = await signInWith('corp')
    const again = await whoami(second.browser)
    expect(again.identity?.id).toBe(session.identity?.id)
    expect(again.authentication_methods).toMatchObject([
      { method: 'oidc', provider: 'corp', provider_label: 'ACME Corp' },
    ])
    const log = await second.browser.ask<{ event: string; details: unknown }[]>('/sessions/security-log')
    expect(log.json.map(({ event, details }) => [event, details])).toEqual([
      ['signed-in', { method: 'oidc', provider: 'corp', provider_label: 'ACME Corp' }],
      ['signed-up', { method: 'oidc', provider: 'corp', provider_label: 'ACME Corp' }],
    ])
  })

  it('identifies users by their account and not by their address', async () => {
    const first = await signInWith('corp')
    server.account = { ...server.account, email: makeEmail() }
    const second = await signInWith('corp')
    const sessions = [await whoami(first.browser), await whoami(second.browser)]
    expect(sessions[1]?.identity?.id).toBe(sessions[0]?.identity?.id)
    expect(sessions[1]?.identity?.traits.email).not.toBe(server.account.email)
  })

  it('sends a new state, nonce and PKCE challenge for every attempt', async () => {
    const browser = identity.browser()
    const flow = await openLogin(browser)
    const away = async () => {
      const { json } = await submitLogin<{ redirect_browser_to: string }>(browser, flow, { provider: 'corp' })
      return new URL(json.redirect_browser_to).searchParams
    }
    const [first, second] = [await away(), await away()]
    expect(first.get('code_challenge_method')).toBe('S256')
    expect(first.get('redirect_uri')).toBe(callback('corp'))
    expect(first.get('scope')).toBe('openid email profile')
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(first.get(name)?.length).toBeGreaterThan(20)
      expect(second.get(name)).not.toBe(first.get(name))
    }
  })

  it('completes a sign-in only once', async () => {
    const { browser, back } = await signInWith('corp')
    const again = await browser.ask(back.slice(publicUrl.length))
    expect(again.status).toBe(403)
    expect(again.json).toMatchObject({ error: { id: 'security_csrf_violation' } })
  })

  it('completes nothing in a browser that did not start the sign-in', async () => {
    const browser = identity.browser()
    const flow = await openLogin(browser)
    const departed = await submitLogin<{ redirect_browser_to: string }>(browser, flow, { provider: 'corp' })
    const back = await followRedirects(departed.json.redirect_browser_to, publicUrl)
    const victim = identity.browser()
    await openLogin(victim)
    const answer = await victim.ask(back.slice(publicUrl.length))
    expect(answer.status).toBe(403)
    expect(victim.sessionCookie).toBeUndefined()
  })

  it.each([
    ['another state', (url: URL) => url.searchParams.set('state', `${url.searchParams.get('state')}x`)],
    ['no state', (url: URL) => url.searchParams.delete('state')],
    [
      'the address of another provider',
      (url: URL) => {
        url.pathname = url.pathname.replace('/corp', '/gossip')
      },
    ],
  ])('refuses %s', async (_what, change) => {
    const browser = identity.browser()
    const flow = await openLogin(browser)
    const departed = await submitLogin<{ redirect_browser_to: string }>(browser, flow, { provider: 'corp' })
    const back = new URL(await followRedirects(departed.json.redirect_browser_to, publicUrl))
    change(back)
    const answer = await browser.ask(back.href.slice(publicUrl.length))
    expect(answer.status).toBe(400)
    expect(browser.sessionCookie).toBeUndefined()
  })

  it.each([
    ['a code of nobody', (url: URL) => url.searchParams.set('code', 'made-up')],
    ['the word of another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.test')],
  ])('shows the form again after %s', async (_what, change) => {
    const browser = identity.browser()
    const flow = await openLogin(browser)
    const departed = await submitLogin<{ redirect_browser_to: string }>(browser, flow, { provider: 'corp' })
    const back = new URL(await followRedirects(departed.json.redirect_browser_to, publicUrl))
    change(back)
    const answer = await browser.page(back.href.slice(publicUrl.length))
    expect([answer.status, answer.location]).toEqual([303, `${consoleUrl}/auth/login?flow=${flow.id}`])
    const { json } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${flow.id}`)
    expect(messageIds(json)).toEqual([4000001])
  })

  it('reports that the user refused at the provider', async () => {
    server.refuses = true
    const { browser, answer, flow } = await signInWith('corp')
    expect(answer.location).toBe(`${consoleUrl}/auth/login?flow=${flow.id}`)
    const { json } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${flow.id}`)
    expect(json.ui.messages?.[0]?.text).toContain('the user refused')
  })

  it('requests the second factor of a user who has one', async () => {
    const { browser } = await signInWith('corp')
    await enrolTotp(browser)
    const { browser: other, answer } = await signInWith('corp')
    expect(answer.location).toBe(`${publicUrl}/self-service/login/browser?aal=aal2`)
    expect((await other.ask('/sessions/whoami')).status).toBe(403)
  })

  it('lets users without another method authenticate again', async () => {
    const { browser } = await signInWith('corp')
    const flow = await openLogin(browser, '?refresh=true')
    expect(listNames(flow.ui, 'oidc')).toEqual(['provider'])
    const before = await whoami(browser)
    const { answer } = await goThere(browser, await submitLogin(browser, flow, { provider: 'corp' }))
    expect(answer.status).toBe(303)
    const after = await whoami(browser)
    expect(after.id).toBe(before.id)
    expect(after.authentication_methods).toHaveLength(2)
  })
})

describe('an address from a provider', () => {
  it('never links to an account that already has it', async () => {
    const { email } = await signUpInBrowser(identity)
    server.account = { ...server.account, email }
    const { browser, answer } = await signInWith('corp')
    const { json } = await browser.ask<LoginFlow>(`/self-service/login/flows?id=${getFlow(answer.location)}`)
    expect(messageIds(json)).toEqual([4000027])
    expect(browser.sessionCookie).toBeUndefined()
    const rows = await identity.sql(`select 1 from identity.credentials where type = 'oidc' and config::text like $1`, [
      `%"${server.account.sub}"%`,
    ])
    expect(rows).toEqual([])
  })

  it.each([
    ['that it has not verified', 'corp', false],
    ['of a provider whose word does not count', 'gossip', true],
  ])('%s is verified by mail before the next sign-in', async (_what, provider, verified) => {
    server.account = { ...server.account, email_verified: verified }
    const { browser } = await signInWith(provider)
    const session = await whoami(browser)
    expect(session.identity?.verifiable_addresses?.[0]?.verified).toBe(false)
    expect(getCode(await mails.next(server.account.email ?? ''))).toMatch(/^\d{6}$/)
    const { browser: other, answer } = await signInWith(provider)
    const { json } = await other.ask<LoginFlow>(`/self-service/login/flows?id=${getFlow(answer.location)}`)
    expect(messageIds(json)).toEqual([4000010])
    expect(other.sessionCookie).toBeUndefined()
  })

  it('is requested when it is missing, and then verified by mail', async () => {
    server.account = { sub: server.account.sub, name: 'Grace Brewster Hopper' }
    const { browser, answer } = await signInWith('corp')
    expect(answer.location).toMatch(`${consoleUrl}/auth/register-oidc?flow=`)
    const id = getFlow(answer.location)
    const { json: flow } = await browser.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    expect(flow.ui.nodes.map(({ group }) => group)).toEqual(['default', 'oidc', 'oidc', 'oidc', 'oidc'])
    expect(getInput(flow.ui, 'traits.name.last')?.value).toBe('Brewster Hopper')
    expect(messageIds(flow, 'traits.email')).toEqual([4000002])
    const email = makeEmail()
    const done = await browser.ask(`/self-service/registration?flow=${id}`, {
      json: {
        csrf_token: getCsrfToken(flow),
        provider: 'corp',
        traits: { email, name: { first: 'Grace', last: 'Hopper' } },
      },
    })
    expect(done.status).toBe(200)
    const session = await whoami(browser)
    expect(session.identity?.traits).toEqual({ email, name: { first: 'Grace', last: 'Hopper' } })
    expect(session.identity?.verifiable_addresses?.[0]?.verified).toBe(false)
  })

  it('cannot be replaced while the user completes the form', async () => {
    server.account = { ...server.account, email: 'not an address' }
    const { browser, answer } = await signInWith('corp')
    const id = getFlow(answer.location)
    const { json: flow } = await browser.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    const refused = await browser.ask<RegistrationFlow>(`/self-service/registration?flow=${id}`, {
      json: { csrf_token: getCsrfToken(flow), provider: 'corp', traits: { email: makeEmail() } },
    })
    expect(refused.status).toBe(400)
    expect(messageIds(refused.json, 'traits.email')).toEqual([4000001])
  })
})

describe('signing up with a provider', () => {
  it('keeps the names that the user typed before', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    const departed = await browser.ask(`/self-service/registration?flow=${flow.id}`, {
      json: {
        csrf_token: getCsrfToken(flow),
        method: 'oidc',
        provider: 'corp',
        traits: { name: { first: 'Augusta' } },
      },
    })
    await goThere(browser, departed)
    expect((await whoami(browser)).identity?.traits.name).toEqual({ first: 'Augusta', last: 'Byron' })
  })

  it('requests a missing name once', async () => {
    const { given_name: _first, family_name: _last, ...nameless } = server.account
    server.account = nameless
    const { browser, answer } = await signInWith('corp')
    expect(answer.location).toMatch(`${consoleUrl}/auth/register-oidc?flow=`)
    const id = getFlow(answer.location)
    const { json: flow } = await browser.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    expect(getInput(flow.ui, 'traits.email')?.value).toBe(nameless.email)
    const done = await browser.ask(`/self-service/registration?flow=${id}`, {
      json: { csrf_token: getCsrfToken(flow), provider: 'corp', traits: { email: nameless.email, name: {} } },
    })
    expect(done.status).toBe(200)
    expect((await whoami(browser)).identity?.traits).toEqual({ email: nameless.email, name: {} })
  })

  it('signs in users who already have an account', async () => {
    const known = await signInWith('corp')
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    await goThere(
      browser,
      await browser.ask(`/self-service/registration?flow=${flow.id}`, {
        json: { csrf_token: getCsrfToken(flow), provider: 'corp' },
      }),
    )
    expect((await whoami(browser)).identity?.id).toBe((await whoami(known.browser)).identity?.id)
  })

  it('is refused where registration is closed', async () => {
    const closed = await startTestIdentity({
      DISABLE_REGISTRATION: 'true',
      OIDC_PROVIDERS: JSON.stringify([{ id: 'corp', issuer: server.issuer, ...oidcClient }]),
    })
    try {
      const { browser, answer } = await signInWith('corp', closed.browser())
      expect(answer.location).toMatch(`${consoleUrl}/error?id=`)
      expect(browser.sessionCookie).toBeUndefined()
    } finally {
      await closed.stop()
    }
  })
})

describe('GitHub', () => {
  it('provides the data of a user by its API, with the verified primary address', async () => {
    const email = makeEmail()
    github.emails = [
      { email: makeEmail(), primary: false, verified: true, visibility: null },
      { email, primary: true, verified: true, visibility: 'private' },
    ]
    const { browser } = await signInWith('github')
    const session = await whoami(browser)
    expect(session.identity?.traits).toEqual({ email, name: { first: 'Mona', last: 'Lisa Octocat' } })
    expect(session.identity?.verifiable_addresses?.[0]?.verified).toBe(true)
    const again = await signInWith('github')
    expect((await whoami(again.browser)).identity?.id).toBe(session.identity?.id)
  })
})

describe('a provider that does not answer', () => {
  it('is reported in the form, and requested again the next time', async () => {
    const gone = await startOidcServer([callback('corp')])
    const issuer = gone.issuer
    await gone.close()
    const lonely = await startTestIdentity({
      OIDC_PROVIDERS: JSON.stringify([{ id: 'corp', label: 'Corp', issuer, ...oidcClient }]),
    })
    try {
      const browser = lonely.browser()
      const flow = await openLogin(browser)
      const refused = await submitLogin<LoginFlow>(browser, flow, { provider: 'corp' })
      expect(refused.status).toBe(400)
      expect(refused.json.ui.messages?.[0]?.text).toBe('Corp cannot be reached right now.')
    } finally {
      await lonely.stop()
    }
  })
})

describe('a service without providers', () => {
  it('reports that the method is not configured', async () => {
    const plain = await startTestIdentity()
    try {
      const browser = plain.browser()
      const flow = await openLogin(browser)
      const answer = await submitLogin<{ error: { code: number } }>(browser, flow, { method: 'oidc', provider: 'corp' })
      expect([answer.status, answer.json.error.code]).toEqual([404, 404])
    } finally {
      await plain.stop()
    }
  })
})
