import { followRedirects, type OidcServer, oidcClient, startOidcServer } from '@crux/test-kit'
import type { SettingsFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Browser, getInput, messageIds } from '../../../test/browser.ts'
import { openSettings, signUpInBrowser, submitSettings } from '../../../test/factors.ts'
import { consoleUrl, startTestIdentity, type TestIdentity } from '../../../test/identity.ts'
import { type MailServer, startMailServer } from '../../../test/mail-server.ts'
import {
  callback,
  goThere,
  makeAccount,
  publicUrl,
  signInWith as visitProvider,
  whoami,
} from '../../../test/oidc-visits.ts'

let server: OidcServer
let mails: MailServer
let identity: TestIdentity
beforeAll(async () => {
  server = await startOidcServer([callback('corp')])
  mails = await startMailServer()
  identity = await startTestIdentity({
    SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`,
    OIDC_PROVIDERS: JSON.stringify([{ id: 'corp', label: 'Corp', issuer: server.issuer, ...oidcClient }]),
  })
})
afterAll(async () => {
  await identity.stop()
  await mails.close()
  await server.close()
})
beforeEach(() => {
  server.account = makeAccount()
})

const signInWith = (provider: string, browser = identity.browser()) => visitProvider(provider, browser)

describe('linking a provider in the settings', () => {
  async function linkCorp(browser: Browser) {
    const flow = await openSettings(browser)
    return { flow, ...(await goThere(browser, await submitSettings(browser, flow, { link: 'corp' }))) }
  }

  it('adds a sign-in method, reports it by mail, and can be undone', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await mails.next(email)
    const { flow, answer } = await linkCorp(browser)
    expect([answer.status, answer.location]).toEqual([303, `${consoleUrl}/auth/settings?flow=${flow.id}`])
    expect((await mails.next(email)).subject).toBe('A way to prove who you are was added')
    const { json: linked } = await browser.ask<SettingsFlow>(`/self-service/settings/flows?id=${flow.id}`)
    expect(linked.state).toBe('success')
    expect(getInput(linked.ui, 'unlink')?.value).toBe('corp')
    await identity.sql(`update identity.verifiable_addresses set verified = true where value = $1`, [email])
    const other = await signInWith('corp')
    expect((await whoami(other.browser)).identity?.traits.email).toBe(email)
    const unlinked = await submitSettings(browser, linked, { unlink: 'corp' })
    expect(unlinked.status).toBe(200)
    const after = await signInWith('corp')
    expect((await whoami(after.browser)).identity?.traits.email).toBe(server.account.email)
  })

  it('refuses an account that signs another user in', async () => {
    await signInWith('corp')
    const { browser } = await signUpInBrowser(identity)
    const { flow, answer } = await linkCorp(browser)
    expect(answer.location).toBe(`${consoleUrl}/auth/settings?flow=${flow.id}`)
    const { json } = await browser.ask<SettingsFlow>(`/self-service/settings/flows?id=${flow.id}`)
    expect(messageIds(json)).toEqual([4000007])
    expect(getInput(json.ui, 'unlink')).toBeUndefined()
  })

  it('needs a recently authenticated session when the browser returns', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const departed = await submitSettings(browser, flow, { link: 'corp' })
    await identity.sql(
      `update identity.sessions set authenticated_at = now() - interval '10 minutes' where identity_id =
       (select identity_id from identity.verifiable_addresses where value = $1)`,
      [email],
    )
    const { answer } = await goThere(browser, departed)
    expect(answer.location).toContain('/self-service/login/browser?refresh=true')
    const old = await submitSettings(browser, flow, { link: 'corp' })
    expect(old.json).toMatchObject({ error: { id: 'session_refresh_required' } })
  })

  it('does not link to another user who has signed in by then', async () => {
    const { browser } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const departed = await submitSettings(browser, flow, { link: 'corp' })
    const { redirect_browser_to: away } = departed.json as unknown as { redirect_browser_to: string }
    const back = await followRedirects(away, publicUrl)
    const { browser: mallory } = await signUpInBrowser(identity)
    browser.cookies.set('ory_kratos_session', mallory.sessionCookie ?? '')
    const answer = await browser.ask(back.slice(publicUrl.length))
    expect(answer.json).toMatchObject({ error: { id: 'security_identity_mismatch' } })
  })

  it('keeps the last sign-in method', async () => {
    const lonely = await startTestIdentity({
      OIDC_PROVIDERS: JSON.stringify([{ id: 'corp', issuer: server.issuer, ...oidcClient }]),
    })
    try {
      const { browser } = await signInWith('corp', lonely.browser())
      const flow = await openSettings(browser)
      expect(getInput(flow.ui, 'unlink')).toMatchObject({ value: 'corp', disabled: true })
      const refused = await submitSettings(browser, flow, { unlink: 'corp' })
      expect([refused.status, messageIds(refused.json)]).toEqual([400, [4000001]])
      const id = (await whoami(browser)).identity?.id ?? ''
      const byAdmin = await lonely.admin.deleteIdentityCredentials({
        id,
        type: 'oidc',
        identifier: `corp:${server.account.sub}`,
      })
      expect(byAdmin.status).toBe(400)
    } finally {
      await lonely.stop()
    }
  })

  it('can be undone by an administrator', async () => {
    const { browser } = await signUpInBrowser(identity)
    await linkCorp(browser)
    const id = (await whoami(browser)).identity?.id ?? ''
    const remove = (identifier?: string) => identity.admin.deleteIdentityCredentials({ id, type: 'oidc', identifier })
    expect((await remove()).status).toBe(400)
    expect((await remove('corp:somebody')).status).toBe(404)
    expect((await remove(`corp:${server.account.sub}`)).status).toBe(204)
    expect((await remove(`corp:${server.account.sub}`)).status).toBe(404)
  })
})
