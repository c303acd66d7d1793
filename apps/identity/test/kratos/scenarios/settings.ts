import { flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import {
  makeBrowserPerson,
  makePerson,
  makeSignedPerson,
  newEmail,
  nobody,
  password,
  signIn,
  signUp,
} from '../people.ts'
import type { Scenario } from '../world.ts'

const newPassword = 'ten green Badgers 77'

const form: Record<string, Scenario> = {
  'a flow of an API client': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('answer', await client.ask('/self-service/settings/api'))
  },
  'a flow of a single-page application': async (world) => {
    const { client } = await makeBrowserPerson(world)
    world.see('answer', await client.ask('/self-service/settings/browser?return_to=/after'))
  },
  'a page is sent to the form with its flow': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const answer = await client.page('/self-service/settings/browser')
    world.see('answer', answer)
    world.see('flow', await client.ask(`/self-service/settings/flows?id=${flowIdIn(answer.location)}`))
  },
  'nobody gets a flow': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/settings/api'))
    see('json', await browser().ask('/self-service/settings/browser'))
    see('page', await browser().page('/self-service/settings/browser'))
    see('page with return_to', await browser().page('/self-service/settings/browser?return_to=/after'))
  },
  'nobody reads or submits a flow': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    client.cookies.delete('ory_kratos_session')
    world.see('read', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
    world.see('json', await submit(client, flow, { method: 'profile', traits: {} }))
    world.see('page', await submitForm(client, flow, { method: 'profile' }))
  },
  'a flow belongs to its person': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    const other = await makeSignedPerson(world)
    world.see('read', await other.client.ask(`/self-service/settings/flows?id=${flow.id}`))
    world.see('answer', await submit(other.client, flow, { method: 'password', password: newPassword }))
  },
  'a flow that does not exist': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('json', await client.ask(`/self-service/settings?flow=${nobody}`, { json: { method: 'profile' } }))
    world.see('read', await client.ask(`/self-service/settings/flows?id=${nobody}`))
    world.see('none', await client.ask('/self-service/settings', { json: { method: 'profile' } }))
  },
  'a flow that expired, by API': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.expireFlow('settings', flow.id)
    world.see('read', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
    world.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'a flow that expired, in a browser': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    await world.clock.expireFlow('settings', flow.id)
    const answer = await submit(client, flow, { method: 'password', password: newPassword })
    world.see('json', answer)
    world.see('page', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'no method is refused': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { password: newPassword }))
  },
  'an unknown method is refused': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'telepathy' }))
  },
  'without csrf token nothing is changed': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('json', await submit(client, flow, { method: 'password', password: newPassword, csrf_token: '' }))
    world.see('page', await submitForm(client, flow, { method: 'password', password: newPassword, csrf_token: '' }))
  },
}

const profile: Record<string, Scenario> = {
  'a name is changed by API': async (world) => {
    const { client, email } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    const traits = { email, name: { first: 'Grace', last: 'Hopper' } }
    world.see('answer', await submit(client, flow, { method: 'profile', traits }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a name is changed in a single-page application': async (world) => {
    const { client, email } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    const traits = { email, name: { first: 'Grace', last: 'Hopper' } }
    world.see('answer', await submit(client, flow, { method: 'profile', traits }))
  },
  'a name is changed on a page': async (world) => {
    const { client, email } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    const fields = { method: 'profile', 'traits.email': email, 'traits.name.first': 'Grace' }
    world.see('answer', await submitForm(client, flow, fields))
    world.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
  'a page goes to return_to after a change': async (world) => {
    const { client, email } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings', '?return_to=/after')
    world.see('answer', await submitForm(client, flow, { method: 'profile', 'traits.email': email }))
  },
  'traits are replaced whole': async (world) => {
    const { client, email } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email, name: { first: 'Grace' } } }))
  },
  'another address must be verified': async (world) => {
    const { client, id } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    const email = newEmail()
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email, name: {} } }))
    world.note('a code came', (await world.code(email)).length)
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('identity', await world.admin(`/identities/${id}`))
  },
  'another address in a single-page application': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } }))
  },
  'another address keeps other sessions and drops the former identifier': async (world) => {
    const person = await makeSignedPerson(world)
    const other = await signIn(world, person)
    const flow = await open(person.client, 'settings', 'api')
    await submit(person.client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } })
    world.note('other', (await other.client.ask('/sessions/whoami')).status)
    const login = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: person.email, password }
    world.see('former', await submit(world.browser(), login, fields))
  },
  'a taken address is refused': async (world) => {
    const taken = await makePerson(world)
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email: taken.email, name: {} } }))
  },
  'something that is no address is refused': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email: 'ada', name: {} } }))
  },
  'no address is refused': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { name: {} } }))
  },
  'an unknown trait is refused': async (world) => {
    const { client, email } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email, zap: 1 } }))
  },
  'a mistake on a page is shown there': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    world.see('answer', await submitForm(client, flow, { method: 'profile', 'traits.email': 'ada' }))
    world.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
}

const passwords: Record<string, Scenario> = {
  'a password is changed by API': async (world) => {
    const { client, email } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
    const login = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email }
    world.note('former', (await submit(world.browser(), login, { ...fields, password })).status)
    world.note('new', (await submit(world.browser(), login, { ...fields, password: newPassword })).status)
  },
  'a password is changed in a single-page application': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    world.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'a password is changed on a page': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    world.see('answer', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'other sessions live on': async (world) => {
    const person = await makeSignedPerson(world)
    const other = await signIn(world, person)
    const flow = await open(person.client, 'settings', 'api')
    await submit(person.client, flow, { method: 'password', password: newPassword })
    world.note('other', (await other.client.ask('/sessions/whoami')).status)
  },
  ...Object.fromEntries(
    Object.entries({ short: 'short', empty: '', missing: undefined }).map(([name, value]): [string, Scenario] => [
      `a password that is ${name} is refused`,
      async (world) => {
        const { client } = await makeSignedPerson(world)
        const flow = await open(client, 'settings', 'api')
        world.see('answer', await submit(client, flow, { method: 'password', password: value }))
      },
    ]),
  ),
  'a password like the address is refused': async (world) => {
    const { client, email } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'password', password: email }))
  },
}

const privileged: Record<string, Scenario> = {
  'an old session may not change the password': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.ageSession(session.id)
    world.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'an old session may not change the password in a browser': async (world) => {
    const { client, session } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    await world.clock.ageSession(session.id)
    world.see('json', await submit(client, flow, { method: 'password', password: newPassword }))
    world.see('page', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'an old session may not change the address': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.ageSession(session.id)
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } }))
  },
  'an old session may change the name while the address is not verified': async (world) => {
    const { client, session, email } = await signUp(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.ageSession(session.id)
    world.see('answer', await submit(client, flow, { method: 'profile', traits: { email, name: { first: 'Grace' } } }))
  },
  'a confirmed session may change the password': async (world) => {
    const { client, session, email } = await makeSignedPerson(world)
    await world.clock.ageSession(session.id)
    const login = await open(client, 'login', 'api', '?refresh=true')
    await submit(client, login, { method: 'password', identifier: email, password })
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
}

export const settings: Record<string, Scenario> = { ...form, ...profile, ...passwords, ...privileged }
