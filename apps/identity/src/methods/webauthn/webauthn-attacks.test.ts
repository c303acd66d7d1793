import type { LoginFlow, UiContainer } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, getInput } from '../../../test/browser.ts'
import {
  openLogin,
  openSettings,
  signInWithPassword,
  signUpInBrowser,
  submitLogin,
  submitSettings,
} from '../../../test/factors.ts'
import { consoleUrl, startTestIdentity, type TestIdentity } from '../../../test/identity.ts'
import { SoftwareKey } from '../../../test/software-key.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

const getOptions = (ui: UiContainer, name: string) => JSON.parse(String(getInput(ui, name)?.value))
const parseProof = (text: string) => JSON.parse(text) as { id: string; rawId: string; response: Record<string, string> }

async function addSecurityKey(browser: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await openSettings(browser)
  const webauthn_register = key.create(getOptions(flow.ui, 'webauthn_register_trigger'))
  return {
    key,
    answer: await submitSettings(browser, flow, { webauthn_register, webauthn_register_displayname: 'Key' }),
  }
}

async function addPasskey(browser: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await openSettings(browser)
  const passkey_settings_register = key.create(getOptions(flow.ui, 'passkey_create_data'))
  return { key, answer: await submitSettings(browser, flow, { passkey_settings_register }) }
}

/** Signs in with the answer of `make` to the options of a new login flow. */
async function trySignIn(make: (question: never) => string) {
  const browser = identity.browser()
  const flow = await openLogin(browser)
  const passkey_login = make(getOptions(flow.ui, 'passkey_challenge') as never)
  const { status } = await submitLogin<LoginFlow>(browser, flow, { passkey_login })
  return { status, signedIn: browser.sessionCookie !== undefined }
}
const refused = { status: 400, signedIn: false }

describe('a passkey login refuses', () => {
  it('the passkey of one account with the handle of another', async () => {
    const [ada, eve] = [await signUpInBrowser(identity), await signUpInBrowser(identity)]
    const { key: victim } = await addPasskey(ada.browser)
    const { key: own } = await addPasskey(eve.browser)
    expect(await trySignIn((question) => own.get(question))).toMatchObject({ status: 200, signedIn: true })
    expect(
      await trySignIn((question) => {
        const proof = parseProof(own.get(question))
        proof.response.userHandle = victim.userHandle
        return JSON.stringify(proof)
      }),
    ).toEqual(refused)
    expect(
      await trySignIn((question) => {
        const proof = parseProof(own.get(question))
        Object.assign(proof, { id: victim.id.toString('base64url'), rawId: victim.id.toString('base64url') })
        proof.response.userHandle = victim.userHandle
        return JSON.stringify(proof)
      }),
    ).toEqual(refused)
  })

  it('a key that was added as a second factor', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addSecurityKey(browser)
    expect(await trySignIn((question) => key.get(question))).toEqual(refused)
  })

  it('a key whose handle has a zero byte', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    const withHandle = (handle: string) => (question: never) => {
      const proof = parseProof(key.get(question))
      proof.response.userHandle = Buffer.from(handle).toString('base64url')
      return JSON.stringify(proof)
    }
    expect(await trySignIn(withHandle('a\0b'))).toEqual(refused)
  })

  it('the answer to the options of another flow, of another site, and of a registration', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    const other = getOptions((await openLogin(identity.browser())).ui, 'passkey_challenge')
    expect(await trySignIn(() => key.get(other as never))).toEqual(refused)
    expect(
      await trySignIn((question: { publicKey: object }) =>
        key.get({ publicKey: { ...question.publicKey, rpId: 'evil.example' } } as never),
      ),
    ).toEqual(refused)
    expect(
      await trySignIn((question: { publicKey: { challenge: string } }) =>
        key.create({
          publicKey: { rp: { id: 'localhost' }, user: { id: key.userHandle }, challenge: question.publicKey.challenge },
        }),
      ),
    ).toEqual(refused)
  })

  it('a counter that decreased', async () => {
    const { browser } = await signUpInBrowser(identity)
    const { key } = await addPasskey(browser)
    key.counter = 9
    expect((await trySignIn((question) => key.get(question))).status).toBe(200)
    key.counter = 3
    expect(await trySignIn((question) => key.get(question))).toEqual(refused)
  })
})

describe('a second factor', () => {
  it('cannot be proven with the key of another user who got the same options', async () => {
    const [ada, eve] = [await signUpInBrowser(identity), await signUpInBrowser(identity)]
    const { key } = await addSecurityKey(ada.browser)
    const { key: own } = await addSecurityKey(eve.browser)
    const browser = await signInWithPassword(identity, ada.email)
    const flow = await openLogin(browser, '?aal=aal2')
    const question = getOptions(flow.ui, 'webauthn_login_trigger')
    const proof = parseProof(own.get(question))
    Object.assign(proof, { id: key.id.toString('base64url'), rawId: key.id.toString('base64url') })
    const { status } = await submitLogin(browser, flow, { webauthn_login: JSON.stringify(proof) })
    expect(status).toBe(400)
    expect((await browser.ask('/sessions/whoami')).status).toBe(403)
  })
})

describe('adding a key', () => {
  it('accepts options once, and none of another browser', async () => {
    const [ada, eve] = [await signUpInBrowser(identity), await signUpInBrowser(identity)]
    const foreign = getOptions((await openSettings(ada.browser)).ui, 'passkey_create_data')
    const flow = await openSettings(eve.browser)
    const answer = await submitSettings(eve.browser, flow, {
      passkey_settings_register: new SoftwareKey(consoleUrl).create(foreign),
    })
    expect(answer.status).toBe(400)
    const own = getOptions(flow.ui, 'passkey_create_data')
    const late = await submitSettings(eve.browser, flow, {
      passkey_settings_register: new SoftwareKey(consoleUrl).create(own),
    })
    expect(late.status).toBe(400)
  })

  it('replaces it when it is added again, and takes no key with the same id from another user', async () => {
    const [ada, eve] = [await signUpInBrowser(identity), await signUpInBrowser(identity)]
    const { key } = await addPasskey(ada.browser)
    expect((await addPasskey(ada.browser, key)).answer.status).toBe(200)
    const flow = await openSettings(ada.browser)
    const known = getOptions(flow.ui, 'passkey_create_data').publicKey.excludeCredentials
    expect(known).toHaveLength(1)
    const copy = new SoftwareKey(consoleUrl)
    copy.id.set(key.id)
    await addPasskey(eve.browser, copy)
    const victim = await trySignIn((question) => key.get(question))
    expect(victim).toMatchObject({ status: 200, signedIn: true })
  })

  it.each([
    ['as large as a form may be', Buffer.alloc(24_000, 0xff)],
    ['nested without end', Buffer.alloc(24_000, 0x81)],
    ['a map of maps', Buffer.alloc(24_000, 0xa1)],
    ['a text longer than itself', Buffer.from([0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ])('is refused with an attestation that is %s, and the service keeps running', async (_what, bytes) => {
    const { browser } = await signUpInBrowser(identity)
    const flow = await openSettings(browser)
    const answer = parseProof(new SoftwareKey(consoleUrl).create(getOptions(flow.ui, 'passkey_create_data')))
    answer.response.attestationObject = bytes.toString('base64url')
    const { status } = await submitSettings(browser, flow, { passkey_settings_register: JSON.stringify(answer) })
    expect(status).toBe(400)
    expect((await browser.ask('/sessions/whoami')).status).toBe(200)
  })
})
