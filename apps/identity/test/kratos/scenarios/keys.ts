import type { UiContainer } from '@ory/kratos-client'
import { type Browser, inputOf } from '../../browser.ts'
import { consoleUrl } from '../../console-url.ts'
import { SoftwareKey } from '../../software-key.ts'
import { flowOf, open, openPage, submit, submitForm } from '../flows.ts'
import { makeBrowserPerson, makePerson, names, newEmail, password } from '../people.ts'
import type { Scenario, World } from '../world.ts'

function optionsOf(ui: UiContainer, name: string) {
  return JSON.parse(String(inputOf(ui, name)?.value))
}

async function addKey(client: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await open(client, 'settings', 'browser')
  const done = await submit(client, flow, {
    webauthn_register: key.create(optionsOf(flow.ui, 'webauthn_register_trigger')),
    webauthn_register_displayname: 'On my key ring',
  })
  return { key, flow, done }
}

async function addPasskey(client: Browser, key = new SoftwareKey(consoleUrl)) {
  const flow = await open(client, 'settings', 'browser')
  const created = key.create(optionsOf(flow.ui, 'passkey_create_data'))
  return { key, flow, done: await submit(client, flow, { passkey_settings_register: created }) }
}

async function withKey(world: World) {
  const person = await makeBrowserPerson(world)
  return { ...person, ...(await addKey(person.client)) }
}

/** A browser that has given the password and not the second factor. */
async function halfSignedIn(world: World, email: string) {
  const client = world.browser()
  const flow = await open(client, 'login', 'browser')
  const answer = await submit(client, flow, { method: 'password', identifier: email, password })
  return { client, answer }
}

const securityKeys: Record<string, Scenario> = {
  'one is added': async (world) => {
    const { client, done, id } = await withKey(world)
    world.see('answer', done)
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('settings', await client.ask('/self-service/settings/browser'))
    world.see('identity', await world.admin(`/identities/${id}`))
  },
  'one is added on a page': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    const created = new SoftwareKey(consoleUrl).create(optionsOf(flow.ui, 'webauthn_register_trigger'))
    const fields = { webauthn_register: created, webauthn_register_displayname: 'On my key ring' }
    world.see('answer', await submitForm(client, flow, fields))
  },
  'two are added': async (world) => {
    const { client } = await withKey(world)
    const { done } = await addKey(client)
    world.see('answer', done)
  },
  'one is the second factor': async (world) => {
    const { email, key } = await withKey(world)
    const { client, answer } = await halfSignedIn(world, email)
    world.see('password', answer)
    const init = await client.ask('/self-service/login/browser?aal=aal2')
    world.see('init', init)
    const flow = flowOf(init, 'login')
    const proof = key.get(optionsOf(flow.ui, 'webauthn_login_trigger'))
    world.see('answer', await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'one is the second factor on a page': async (world) => {
    const { email, key } = await withKey(world)
    const { client } = await halfSignedIn(world, email)
    const flow = await openPage(client, 'login', '?aal=aal2&return_to=/after')
    const proof = key.get(optionsOf(flow.ui, 'webauthn_login_trigger'))
    world.see('answer', await submitForm(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }))
  },
  'another key proves nothing': async (world) => {
    const { email } = await withKey(world)
    const { client } = await halfSignedIn(world, email)
    const flow = await open(client, 'login', 'browser', '?aal=aal2')
    const proof = new SoftwareKey(consoleUrl).get(optionsOf(flow.ui, 'webauthn_login_trigger'))
    world.see('answer', await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }))
  },
  'a key used at another site proves nothing': async (world) => {
    const { email, key } = await withKey(world)
    const { client } = await halfSignedIn(world, email)
    const flow = await open(client, 'login', 'browser', '?aal=aal2')
    const proof = key.get(optionsOf(flow.ui, 'webauthn_login_trigger'), 'https://evil.test')
    world.see('answer', await submit(client, flow, { webauthn_login: proof, identifier: email.toLowerCase() }))
  },
  'nonsense is no key': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('register', await submit(client, flow, { webauthn_register: 'zz', webauthn_register_displayname: 'a' }))
  },
  'one is taken away': async (world) => {
    const { client, key } = await withKey(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('answer', await submit(client, flow, { webauthn_remove: key.id.toString('hex') }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'one that is not there is not taken away': async (world) => {
    const { client } = await withKey(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('answer', await submit(client, flow, { webauthn_remove: '0'.repeat(32) }))
  },
  'an old session adds none': async (world) => {
    const { client, session } = await makeBrowserPerson(world)
    await world.clock.ageSession(session.id)
    const { done } = await addKey(client)
    world.see('answer', done)
  },
  'an administrator takes it away': async (world) => {
    const { id } = await withKey(world)
    world.see('answer', await world.admin(`/identities/${id}/credentials/webauthn`, 'DELETE'))
    world.see('identity', await world.admin(`/identities/${id}`))
  },
}

const passkeys: Record<string, Scenario> = {
  'one is added': async (world) => {
    const { client, id } = await makeBrowserPerson(world)
    const { done } = await addPasskey(client)
    world.see('answer', done)
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('settings', await client.ask('/self-service/settings/browser'))
    world.see('identity', await world.admin(`/identities/${id}`))
  },
  'one signs a single-page application in': async (world) => {
    const person = await makeBrowserPerson(world)
    const { key } = await addPasskey(person.client)
    const client = world.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/after')
    const proof = key.get(optionsOf(flow.ui, 'passkey_challenge'))
    world.see('answer', await submit(client, flow, { passkey_login: proof }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'one signs a page in': async (world) => {
    const person = await makeBrowserPerson(world)
    const { key } = await addPasskey(person.client)
    const client = world.browser()
    const flow = await openPage(client, 'login', '?return_to=/after')
    const proof = key.get(optionsOf(flow.ui, 'passkey_challenge'))
    world.see('answer', await submitForm(client, flow, { passkey_login: proof }))
  },
  'an unknown one signs nobody in': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'login', 'browser')
    const key = new SoftwareKey(consoleUrl)
    key.userHandle = Buffer.from('nobody').toString('base64url')
    const proof = key.get(optionsOf(flow.ui, 'passkey_challenge'))
    world.see('answer', await submit(client, flow, { passkey_login: proof }))
  },
  'nonsense signs nobody in': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'login', 'browser')
    world.see('answer', await submit(client, flow, { passkey_login: 'zz' }))
  },
  'a disabled person is not signed in': async (world) => {
    const person = await makeBrowserPerson(world)
    const { key } = await addPasskey(person.client)
    await world.admin(`/identities/${person.id}`, 'PATCH', [{ op: 'replace', path: '/state', value: 'inactive' }])
    const client = world.browser()
    const flow = await open(client, 'login', 'browser')
    const proof = key.get(optionsOf(flow.ui, 'passkey_challenge'))
    world.see('answer', await submit(client, flow, { passkey_login: proof }))
  },
  'one signs a person up': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    const { credentialOptions } = optionsOf(flow.ui, 'passkey_create_data')
    const key = new SoftwareKey(consoleUrl)
    const traits = { email: newEmail(), name: names }
    const done = await submit(client, flow, { passkey_register: key.create(credentialOptions), traits })
    world.see('answer', done)
    world.see('identity', await world.admin(`/identities/${done.json.identity?.id}`))
  },
  'a taken address is not signed up': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await open(client, 'registration', 'browser')
    const { credentialOptions } = optionsOf(flow.ui, 'passkey_create_data')
    const created = new SoftwareKey(consoleUrl).create(credentialOptions)
    world.see('answer', await submit(client, flow, { passkey_register: created, traits: { email } }))
  },
  'one is taken away': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const { key } = await addPasskey(client)
    const flow = await open(client, 'settings', 'browser')
    world.see('answer', await submit(client, flow, { passkey_remove: key.id.toString('hex') }))
  },
  'an old session adds none': async (world) => {
    const { client, session } = await makeBrowserPerson(world)
    await world.clock.ageSession(session.id)
    const { done } = await addPasskey(client)
    world.see('answer', done)
  },
}

export const keys: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(securityKeys).map(([name, its]) => [`security keys: ${name}`, its])),
  ...Object.fromEntries(Object.entries(passkeys).map(([name, its]) => [`passkeys: ${name}`, its])),
}
