import type { LoginFlow, RegistrationFlow, Session, SettingsFlow, UiContainer } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken, getInput, messageIds } from '../../../test/browser.ts'
import {
  listNames,
  openLogin,
  openSettings,
  signInWithPassword,
  signUpInBrowser,
  submitLogin,
  submitSettings,
} from '../../../test/factors.ts'
import { consoleUrl, makeEmail, startTestIdentity, type TestIdentity } from '../../../test/identity.ts'
import { SoftwareKey } from '../../../test/software-key.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

function getOptions(ui: UiContainer, name: string) {
  return JSON.parse(String(getInput(ui, name)?.value))
}

async function addSecurityKey(browser: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await openSettings(browser)
  const answer = await submitSettings(browser, flow, {
    webauthn_register: key.create(getOptions(flow.ui, 'webauthn_register_trigger')),
    webauthn_register_displayname: 'On my key ring',
  })
  return { key, flow, answer }
}

async function addPasskey(browser: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await openSettings(browser)
  const answer = await submitSettings(browser, flow, {
    passkey_settings_register: key.create(getOptions(flow.ui, 'passkey_create_data')),
  })
  return { key, flow, answer }
}

async function signInWithPasskey(key: SoftwareKey, origin?: string) {
  const browser = identity.browser()
  const flow = await openLogin(browser)
  const proof = key.get(getOptions(flow.ui, 'passkey_challenge'), origin)
  return { browser, flow, proof, answer: await submitLogin<LoginFlow>(browser, flow, { passkey_login: proof }) }
}

describe('a security key', () => {
  it('is added under a name and upgrades the session at once', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key, answer } = await addSecurityKey(browser)
    expect(answer.status).toBe(200)
    expect(getInput(answer.json.ui, 'webauthn_remove')?.value).toBe(key.id.toString('hex'))
    const remove = answer.json.ui.nodes.find(
      ({ attributes }) => 'name' in attributes && attributes.name === 'webauthn_remove',
    )
    expect(remove?.meta.label).toMatchObject({ id: 1050018, context: { display_name: 'On my key ring' } })
    const { json: session } = await browser.ask<Session>('/sessions/whoami')
    expect(session.authenticator_assurance_level).toBe('aal2')
  })

  it('is a second factor afterwards', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const { key } = await addSecurityKey(browser)
    const other = await signInWithPassword(identity, email)
    expect((await other.ask('/sessions/whoami')).status).toBe(403)
    const flow = await openLogin(other, '?aal=aal2')
    expect(listNames(flow.ui, 'webauthn')).toEqual(['webauthn_script', 'webauthn_login_trigger', 'webauthn_login'])
    const question = getOptions(flow.ui, 'webauthn_login_trigger')
    expect(question.publicKey.allowCredentials).toHaveLength(1)
    const { status } = await submitLogin(other, flow, { webauthn_login: key.get(question) })
    expect(status).toBe(200)
    const { json: session } = await other.ask<Session>('/sessions/whoami')
    expect(session.authentication_methods?.map(({ method }) => method)).toEqual(['password', 'webauthn'])
  })

  it('works once per challenge', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const { key } = await addSecurityKey(browser)
    const other = await signInWithPassword(identity, email)
    const flow = await openLogin(other, '?aal=aal2')
    const question = getOptions(flow.ui, 'webauthn_login_trigger')
    const wrong = new SoftwareKey(consoleUrl).get(question)
    const refused = await submitLogin<LoginFlow>(other, flow, { webauthn_login: wrong })
    expect([refused.status, messageIds(refused.json)]).toEqual([400, [4000008]])
    const late = await submitLogin<LoginFlow>(other, flow, { webauthn_login: key.get(question) })
    expect([late.status, messageIds(late.json)]).toEqual([400, [4000008]])
    const repeated = getOptions(late.json.ui, 'webauthn_login_trigger')
    expect(repeated.publicKey.challenge).not.toBe(question.publicKey.challenge)
    expect((await submitLogin(other, flow, { webauthn_login: key.get(repeated) })).status).toBe(200)
  })

  it('is refused when its counter decreased, as that of a copy does', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const { key } = await addSecurityKey(browser)
    const confirm = async () => {
      const other = await signInWithPassword(identity, email)
      const flow = await openLogin(other, '?aal=aal2')
      const proof = key.get(getOptions(flow.ui, 'webauthn_login_trigger'))
      return (await submitLogin(other, flow, { webauthn_login: proof })).status
    }
    key.counter = 5
    expect(await confirm()).toBe(200)
    key.counter = 2
    expect(await confirm()).toBe(400)
  })

  it.each([
    ['another site', 'https://evil.test'],
    ['another port of the same host', 'http://localhost:9999'],
  ])('is refused from %s', async (_what, origin) => {
    const { browser, email } = await signUpInBrowser(identity)
    const elsewhere = new SoftwareKey(origin)
    expect((await addSecurityKey(browser, elsewhere)).answer.status).toBe(400)
    const { key } = await addSecurityKey(browser)
    const other = await signInWithPassword(identity, email)
    const flow = await openLogin(other, '?aal=aal2')
    const proof = key.get(getOptions(flow.ui, 'webauthn_login_trigger'), origin)
    expect((await submitLogin(other, flow, { webauthn_login: proof })).status).toBe(400)
  })

  it('can be deleted, and the second factor ends with the last one', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const first = await addSecurityKey(browser)
    const second = await addSecurityKey(browser)
    const name = first.key.id.toString('hex')
    const removed = await submitSettings(browser, second.flow, { webauthn_remove: name })
    expect(listNames(removed.json.ui, 'webauthn').filter((node) => node === 'webauthn_remove')).toHaveLength(1)
    const again = await submitSettings(browser, second.flow, { webauthn_remove: name })
    expect(messageIds(again.json)).toEqual([4000001])
    await submitSettings(browser, second.flow, { webauthn_remove: second.key.id.toString('hex') })
    expect((await (await signInWithPassword(identity, email)).ask('/sessions/whoami')).status).toBe(200)
  })

  it('is not offered to API clients', async () => {
    const { data: flow } = await identity.frontend.createNativeLoginFlow()
    expect(flow.ui.nodes.filter(({ group }) => group === 'webauthn' || group === 'passkey')).toEqual([])
    const submitted = await identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
      json: { method: 'passkey', passkey_login: '{}' },
    })
    expect(messageIds(submitted.json)).toEqual([4010002])
  })
})

describe('a passkey', () => {
  it('signs up and signs in without a password', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    const key = new SoftwareKey(consoleUrl)
    const email = makeEmail()
    const { credentialOptions, displayNameFieldName } = getOptions(flow.ui, 'passkey_create_data')
    expect(displayNameFieldName).toBe('traits.email')
    const registered = await browser.ask(`/self-service/registration?flow=${flow.id}`, {
      json: {
        csrf_token: getCsrfToken(flow),
        method: 'passkey',
        passkey_register: key.create(credentialOptions),
        traits: { email },
      },
    })
    expect(registered.status).toBe(200)
    expect((await browser.ask('/sessions/whoami')).status).toBe(200)
    const signedIn = await signInWithPasskey(key)
    expect(signedIn.answer.status).toBe(200)
    const { json: session } = await signedIn.browser.ask<Session>('/sessions/whoami')
    expect(session.identity?.traits.email).toBe(email)
    expect(session.authentication_methods?.map(({ method }) => method)).toEqual(['passkey'])
    expect(session.authenticator_assurance_level).toBe('aal1')
  })

  it('reports a missing trait before the challenge is used up', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    const { credentialOptions } = getOptions(flow.ui, 'passkey_create_data')
    const key = new SoftwareKey(consoleUrl)
    const passkey_register = key.create(credentialOptions)
    const submit = (traits: unknown) =>
      browser.ask<RegistrationFlow>(`/self-service/registration?flow=${flow.id}`, {
        json: { csrf_token: getCsrfToken(flow), method: 'passkey', passkey_register, traits },
      })
    const refused = await submit({})
    expect(messageIds(refused.json, 'traits.email')).toEqual([4000002])
    expect((await submit({ email: makeEmail() })).status).toBe(200)
  })

  it('is added in the settings, also several times', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const first = await addPasskey(browser)
    expect(first.answer.status).toBe(200)
    const second = await addPasskey(browser)
    expect(listNames(second.answer.json.ui, 'passkey').filter((name) => name === 'passkey_remove')).toHaveLength(2)
    for (const { key } of [first, second]) {
      const { browser: other, answer } = await signInWithPasskey(key)
      expect(answer.status).toBe(200)
      expect((await other.ask<Session>('/sessions/whoami')).json.identity?.traits.email).toBe(email)
    }
  })

  it('is not a second factor', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await addPasskey(browser)
    expect((await browser.ask<Session>('/sessions/whoami')).json.authenticator_assurance_level).toBe('aal1')
    expect((await (await signInWithPassword(identity, email)).ask('/sessions/whoami')).status).toBe(200)
  })

  it('requires the second factor of a user who has one', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    await addSecurityKey(browser)
    const { answer } = await signInWithPasskey(key)
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({ error: { id: 'browser_location_change_required' } })
  })

  it('is refused from another site, with another key, and when it is used twice', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    expect((await signInWithPasskey(key, 'https://evil.test')).answer.status).toBe(400)
    const stranger = new SoftwareKey(consoleUrl)
    stranger.userHandle = key.userHandle
    const forged = await signInWithPasskey(stranger)
    expect(messageIds(forged.answer.json)).toEqual([4000008])
    stranger.userHandle = Buffer.from('nobody').toString('base64url')
    const unknown = await signInWithPasskey(stranger)
    expect(messageIds(unknown.answer.json)).toEqual([4000015])
    const { flow, proof } = await signInWithPasskey(key)
    const replay = identity.browser()
    const other = await openLogin(replay)
    expect(other.id).not.toBe(flow.id)
    expect((await submitLogin(replay, other, { passkey_login: proof })).status).toBe(400)
  })

  it('cannot be deleted as the last sign-in method', async () => {
    const browser = identity.browser()
    const { json: flow } = await browser.ask<RegistrationFlow>('/self-service/registration/browser')
    const key = new SoftwareKey(consoleUrl)
    const { credentialOptions } = getOptions(flow.ui, 'passkey_create_data')
    await browser.ask(`/self-service/registration?flow=${flow.id}`, {
      json: {
        csrf_token: getCsrfToken(flow),
        method: 'passkey',
        passkey_register: key.create(credentialOptions),
        traits: { email: makeEmail() },
      },
    })
    const settings = await openSettings(browser)
    expect(getInput(settings.ui, 'passkey_remove')).toMatchObject({ disabled: true })
    const name = key.id.toString('hex')
    const refused = await submitSettings(browser, settings, { passkey_remove: name })
    expect([refused.status, messageIds(refused.json)]).toEqual([400, [4000001]])
    await addPasskey(browser)
    const removed = await submitSettings(browser, settings, { passkey_remove: name })
    expect(removed.status).toBe(200)
    expect((await signInWithPasskey(key)).answer.status).toBe(400)
  })

  it('allows only one of two concurrent deletions when one sign-in method has to stay', async () => {
    const { browser } = await signUpInBrowser(identity)
    const first = await addPasskey(browser)
    const second = await addPasskey(browser)
    await identity.sql(
      `update identity.credentials set config = '{}' where type = 'password' and identity_id =
      (select identity_id from identity.credential_identifiers where type = 'passkey' and identifier = $1)`,
      [Buffer.from(first.key.userHandle, 'base64url').toString()],
    )
    const answers = await Promise.all(
      [first, second].map(({ key }) =>
        submitSettings(browser, second.flow, { passkey_remove: key.id.toString('hex') }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  it('lets its user authenticate again', async () => {
    const { browser } = await signUpInBrowser(identity)
    expect(listNames((await openLogin(browser, '?refresh=true')).ui, 'passkey')).toEqual([])
    const { key } = await addPasskey(browser)
    const flow = await openLogin(browser, '?refresh=true')
    const question = getOptions(flow.ui, 'passkey_challenge')
    expect(question.publicKey.allowCredentials).toHaveLength(1)
    const { json: before } = await browser.ask<Session>('/sessions/whoami')
    expect((await submitLogin(browser, flow, { passkey_login: key.get(question) })).status).toBe(200)
    const { json: after } = await browser.ask<Session>('/sessions/whoami')
    expect(after.id).toBe(before.id)
    expect(after.authentication_methods?.map(({ method }) => method)).toEqual(['password', 'passkey'])
  })

  it('does not sign in a disabled user', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    await identity.sql(`update identity.identities set state = 'inactive' where traits->>'email' = $1`, [email])
    const { answer } = await signInWithPasskey(key)
    expect([answer.status, answer.json]).toMatchObject([401, { error: { message: 'identity is disabled' } }])
  })
})

describe('the address of the console', () => {
  it('must be a host name: with an IP address there are neither keys nor passkeys', async () => {
    const numbered = await startTestIdentity({ CRUX_URL: 'http://127.0.0.1:8000' })
    try {
      const flow = await openLogin(numbered.browser())
      expect(flow.ui.nodes.map(({ group }) => group)).not.toContain('passkey')
      expect(getInput(flow.ui, 'identifier')?.autocomplete).toBeUndefined()
    } finally {
      await numbered.stop()
    }
  })

  it('serves the script that flows refer to, with the hash in the flow', async () => {
    const { browser } = await signUpInBrowser(identity)
    const flow: SettingsFlow = await openSettings(browser)
    const script = flow.ui.nodes.find(({ type }) => type === 'script')?.attributes as { src: string; integrity: string }
    expect(script.src).toBe(`${consoleUrl}/kratos/.well-known/ory/webauthn.js`)
    const answer = await browser.ask('/.well-known/ory/webauthn.js')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=UTF-8')
    const digest = await crypto.subtle.digest('SHA-512', Buffer.from(answer.text))
    expect(script.integrity).toBe(`sha512-${Buffer.from(digest).toString('base64')}`)
  })
})
