import { followRedirects, type OidcServer, oidcClient, startOidcServer } from '@crux/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Browser } from '../../../test/browser.ts'
import { openLogin, openSettings, signUpInBrowser, submitLogin, submitSettings } from '../../../test/factors.ts'
import { startTestIdentity, type TestIdentity } from '../../../test/identity.ts'
import { callback, makeAccount, publicUrl, signInWith, whoami } from '../../../test/oidc-visits.ts'

let server: OidcServer
let identity: TestIdentity
beforeAll(async () => {
  server = await startOidcServer([callback('corp')])
  const corp = { id: 'corp', label: 'ACME Corp', issuer: server.issuer, ...oidcClient }
  identity = await startTestIdentity({ OIDC_PROVIDERS: JSON.stringify([corp]) })
})
afterAll(async () => {
  await identity.stop()
  await server.close()
})
beforeEach(() => {
  server.account = makeAccount()
})

/** Starts a sign-in at the provider and returns its callback address without following it. */
async function startAtProvider(browser: Browser): Promise<URL> {
  const departed = await submitLogin<{ redirect_browser_to: string }>(browser, await openLogin(browser), {
    provider: 'corp',
  })
  return new URL(await followRedirects(departed.json.redirect_browser_to, publicUrl))
}
const returnFromProvider = (browser: Browser, back: URL) => browser.ask(back.href.slice(publicUrl.length))
const linkedTo = async (browser: Browser) =>
  identity.sql(`select 1 from identity.credentials where type = 'oidc' and identity_id = $1`, [
    (await whoami(browser)).identity?.id,
  ])

describe('a sign-in with a provider refuses', () => {
  it('the code of another browser together with the state of this browser', async () => {
    const [victim, attacker] = [identity.browser(), identity.browser()]
    const own = await startAtProvider(victim)
    server.account = makeAccount()
    const foreign = await startAtProvider(attacker)
    own.searchParams.set('code', foreign.searchParams.get('code') ?? '')
    // PKCE binds the code to the verifier of the other attempt.
    await returnFromProvider(victim, own)
    expect(victim.sessionCookie).toBeUndefined()
    // The attempt has ended, so the right code is refused too.
    await returnFromProvider(victim, foreign)
    expect(victim.sessionCookie).toBeUndefined()
  })

  it('the callback of an attacker, which would sign the victim in to the account of the attacker', async () => {
    const [victim, attacker] = [identity.browser(), identity.browser()]
    const back = await startAtProvider(attacker)
    expect((await returnFromProvider(victim, back)).status).toBe(403)
    await openLogin(victim)
    expect((await returnFromProvider(victim, back)).status).toBe(403)
    expect(victim.sessionCookie).toBeUndefined()
  })

  it.each(['https://evil.example/', '//evil.example', 'http://localhost:8000.evil.example/', '/\\evil.example'])(
    'to continue at %s',
    async (target) => {
      const path = `/self-service/login/browser?return_to=${encodeURIComponent(target)}`
      expect((await identity.browser().ask(path)).status).toBe(400)
    },
  )
})

describe('linking a provider', () => {
  it('cannot be forced on a signed-in user', async () => {
    const [victim, attacker] = [await signUpInBrowser(identity), await signUpInBrowser(identity)]
    const departed = await submitSettings(attacker.browser, await openSettings(attacker.browser), { link: 'corp' })
    const { redirect_browser_to: away } = departed.json as unknown as { redirect_browser_to: string }
    const back = new URL(await followRedirects(away, publicUrl))
    expect((await returnFromProvider(victim.browser, back)).status).toBeGreaterThanOrEqual(400)
    expect(await linkedTo(victim.browser)).toEqual([])
    expect(await linkedTo(attacker.browser)).toEqual([])
  })

  it('never happens because of an address alone, with any claim of the provider', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    for (const email_verified of [true, false]) {
      server.account = { ...makeAccount(), email, email_verified }
      const ctx = await signInWith('corp', identity.browser())
      expect(ctx.browser.sessionCookie).toBeUndefined()
    }
    expect(await linkedTo(browser)).toEqual([])
  })
})
