import type { UiContainer } from '@ory/kratos-client'
import { type Browser, getInput } from '../../browser.ts'
import { consoleUrl } from '../../console-url.ts'
import { SoftwareKey } from '../../software-key.ts'
import { getFlow, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeBrowserUser, makeUser, names, newEmail, password } from '../users.ts'

function getOptions(ui: UiContainer, name: string) {
  return JSON.parse(String(getInput(ui, name)?.value))
}

async function addKey(client: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await open(client, 'settings', 'browser')
  const done = await submit(client, flow, {
    webauthn_register: key.create(getOptions(flow.ui, 'webauthn_register_trigger')),
    webauthn_register_displayname: 'On my key ring',
  })
  return { key, flow, done }
}

async function addPasskey(client: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await open(client, 'settings', 'browser')
  const created = key.create(getOptions(flow.ui, 'passkey_create_data'))
  return { key, flow, done: await submit(client, flow, { passkey_settings_register: created }) }
}

async function withKey(testEnvironment: TestEnvironment) {
  const user = await makeBrowserUser(testEnvironment)
  return { ...user, ...(await addKey(user.client)) }
}

/** A browser that has submitted the password but not the second factor. */
async function halfSignedIn(testEnvironment: TestEnvironment, email: string) {
  const client = testEnvironment.browser()
  const flow = await open(client, 'login', 'browser')
  const answer = await submit(client, flow, { method: 'password', identifier: email, password })
  return { client, answer }
}

const securityKeys: Record<string, Scenario> = {
  'a key is added': async (testEnvironment) => {
    const { client, done, id } = await withKey(testEnvironment)
    testEnvironment.see('answer', done)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('settings', await client.ask('/self-service/settings/browser'))
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
  },
  'a key is added on a page': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    const created = new SoftwareKey(consoleUrl).create(getOptions(flow.ui, 'webauthn_register_trigger'))
    const fields = { webauthn_register: created, webauthn_register_displayname: 'On my key ring' }
    testEnvironment.see('answer', await submitForm(client, flow, fields))
  },
  'two keys are added': async (testEnvironment) => {
    const { client } = await withKey(testEnvironment)
    const { done } = await addKey(client)
    testEnvironment.see('answer', done)
  },
  'a key is the second factor': async (testEnvironment) => {
    const { email, key } = await withKey(testEnvironment)
    const { client, answer } = await halfSignedIn(testEnvironment, email)
    testEnvironment.see('password', answer)
    const init = await client.ask('/self-service/login/browser?aal=aal2')
    testEnvironment.see('init', init)
    const flow = getFlow(init, 'login')
    const proof = key.get(getOptions(flow.ui, 'webauthn_login_trigger'))
    testEnvironment.see(
      'answer',
      await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }),
    )
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a key is the second factor on a page': async (testEnvironment) => {
    const { email, key } = await withKey(testEnvironment)
    const { client } = await halfSignedIn(testEnvironment, email)
    const flow = await openPage(client, 'login', '?aal=aal2&return_to=/after')
    const proof = key.get(getOptions(flow.ui, 'webauthn_login_trigger'))
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }),
    )
  },
  'the key of another user is refused': async (testEnvironment) => {
    const { email } = await withKey(testEnvironment)
    const { client } = await halfSignedIn(testEnvironment, email)
    const flow = await open(client, 'login', 'browser', '?aal=aal2')
    const proof = new SoftwareKey(consoleUrl).get(getOptions(flow.ui, 'webauthn_login_trigger'))
    testEnvironment.see(
      'answer',
      await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }),
    )
  },
  'an answer for another site is refused': async (testEnvironment) => {
    const { email, key } = await withKey(testEnvironment)
    const { client } = await halfSignedIn(testEnvironment, email)
    const flow = await open(client, 'login', 'browser', '?aal=aal2')
    const proof = key.get(getOptions(flow.ui, 'webauthn_login_trigger'), 'https://evil.test')
    testEnvironment.see(
      'answer',
      await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }),
    )
  },
  'a malformed answer is refused': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see(
      'register',
      await submit(client, flow, { webauthn_register: 'zz', webauthn_register_displayname: 'a' }),
    )
  },
  'a key is deleted': async (testEnvironment) => {
    const { client, key } = await withKey(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { webauthn_remove: key.id.toString('hex') }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'an unknown key cannot be deleted': async (testEnvironment) => {
    const { client } = await withKey(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { webauthn_remove: '0'.repeat(32) }))
  },
  'a session that is not fresh cannot add a key': async (testEnvironment) => {
    const { client, session } = await makeBrowserUser(testEnvironment)
    await testEnvironment.clock.ageSession(session.id)
    const { done } = await addKey(client)
    testEnvironment.see('answer', done)
  },
  'an administrator deletes the keys': async (testEnvironment) => {
    const { id } = await withKey(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}/credentials/webauthn`, 'DELETE'))
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
  },
}

const passkeys: Record<string, Scenario> = {
  'a key is added': async (testEnvironment) => {
    const { client, id } = await makeBrowserUser(testEnvironment)
    const { done } = await addPasskey(client)
    testEnvironment.see('answer', done)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('settings', await client.ask('/self-service/settings/browser'))
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
  },
  'a key signs in a single-page application': async (testEnvironment) => {
    const user = await makeBrowserUser(testEnvironment)
    const { key } = await addPasskey(user.client)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/after')
    const proof = key.get(getOptions(flow.ui, 'passkey_challenge'))
    testEnvironment.see('answer', await submit(client, flow, { passkey_login: proof }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a key signs in a page': async (testEnvironment) => {
    const user = await makeBrowserUser(testEnvironment)
    const { key } = await addPasskey(user.client)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login', '?return_to=/after')
    const proof = key.get(getOptions(flow.ui, 'passkey_challenge'))
    testEnvironment.see('answer', await submitForm(client, flow, { passkey_login: proof }))
  },
  'an unknown key does not sign in': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    const key = new SoftwareKey(consoleUrl)
    key.userHandle = Buffer.from('nobody').toString('base64url')
    const proof = key.get(getOptions(flow.ui, 'passkey_challenge'))
    testEnvironment.see('answer', await submit(client, flow, { passkey_login: proof }))
  },
  'a malformed answer does not sign in': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { passkey_login: 'zz' }))
  },
  'a disabled user is not signed in': async (testEnvironment) => {
    const user = await makeBrowserUser(testEnvironment)
    const { key } = await addPasskey(user.client)
    await testEnvironment.admin(`/identities/${user.id}`, 'PATCH', [
      { op: 'replace', path: '/state', value: 'inactive' },
    ])
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    const proof = key.get(getOptions(flow.ui, 'passkey_challenge'))
    testEnvironment.see('answer', await submit(client, flow, { passkey_login: proof }))
  },
  'a key signs up a user': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    const { credentialOptions } = getOptions(flow.ui, 'passkey_create_data')
    const key = new SoftwareKey(consoleUrl)
    const traits = { email: newEmail(), name: names }
    const done = await submit(client, flow, { passkey_register: key.create(credentialOptions), traits })
    testEnvironment.see('answer', done)
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${done.json.identity?.id}`))
  },
  'a taken address is not signed up': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser')
    const { credentialOptions } = getOptions(flow.ui, 'passkey_create_data')
    const created = new SoftwareKey(consoleUrl).create(credentialOptions)
    testEnvironment.see('answer', await submit(client, flow, { passkey_register: created, traits: { email } }))
  },
  'a key is deleted': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const { key } = await addPasskey(client)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { passkey_remove: key.id.toString('hex') }))
  },
  'a session that is not fresh cannot add a key': async (testEnvironment) => {
    const { client, session } = await makeBrowserUser(testEnvironment)
    await testEnvironment.clock.ageSession(session.id)
    const { done } = await addPasskey(client)
    testEnvironment.see('answer', done)
  },
}

export const keys: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(securityKeys).map(([name, its]) => [`security keys: ${name}`, its])),
  ...Object.fromEntries(Object.entries(passkeys).map(([name, its]) => [`passkeys: ${name}`, its])),
}
