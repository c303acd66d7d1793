import { flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario } from '../service.ts'
import { makeBrowserUser, makeSignedInUser, makeUser, newEmail, nobody, password, signIn, signUp } from '../users.ts'

const newPassword = 'ten green Badgers 77'

const form: Record<string, Scenario> = {
  'a flow of an API client': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/settings/api'))
  },
  'a flow of a single-page application': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/settings/browser?return_to=/after'))
  },
  'a page is sent to the form with its flow': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const answer = await client.page('/self-service/settings/browser')
    testEnvironment.see('answer', answer)
    testEnvironment.see('flow', await client.ask(`/self-service/settings/flows?id=${flowIdIn(answer.location)}`))
  },
  'a client without a session gets no flow': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/settings/api'))
    see('json', await browser().ask('/self-service/settings/browser'))
    see('page', await browser().page('/self-service/settings/browser'))
    see('page with return_to', await browser().page('/self-service/settings/browser?return_to=/after'))
  },
  'a client without a session cannot read or submit a flow': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    client.cookies.delete('ory_kratos_session')
    testEnvironment.see('read', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
    testEnvironment.see('json', await submit(client, flow, { method: 'profile', traits: {} }))
    testEnvironment.see('page', await submitForm(client, flow, { method: 'profile' }))
  },
  'a flow belongs to its user': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    const other = await makeSignedInUser(testEnvironment)
    testEnvironment.see('read', await other.client.ask(`/self-service/settings/flows?id=${flow.id}`))
    testEnvironment.see('answer', await submit(other.client, flow, { method: 'password', password: newPassword }))
  },
  'a flow that does not exist': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see(
      'json',
      await client.ask(`/self-service/settings?flow=${nobody}`, { json: { method: 'profile' } }),
    )
    testEnvironment.see('read', await client.ask(`/self-service/settings/flows?id=${nobody}`))
    testEnvironment.see('none', await client.ask('/self-service/settings', { json: { method: 'profile' } }))
  },
  'a flow that expired, by API': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.expireFlow('settings', flow.id)
    testEnvironment.see('read', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'a flow that expired, in a browser': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    await testEnvironment.clock.expireFlow('settings', flow.id)
    const answer = await submit(client, flow, { method: 'password', password: newPassword })
    testEnvironment.see('json', answer)
    testEnvironment.see('page', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'a missing method is refused': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { password: newPassword }))
  },
  'an unknown method is refused': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'telepathy' }))
  },
  'a submit without the csrf token changes nothing': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see(
      'json',
      await submit(client, flow, { method: 'password', password: newPassword, csrf_token: '' }),
    )
    testEnvironment.see(
      'page',
      await submitForm(client, flow, { method: 'password', password: newPassword, csrf_token: '' }),
    )
  },
}

const profile: Record<string, Scenario> = {
  'a name is changed by API': async (testEnvironment) => {
    const { client, email } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    const traits = { email, name: { first: 'Grace', last: 'Hopper' } }
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a name is changed in a single-page application': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    const traits = { email, name: { first: 'Grace', last: 'Hopper' } }
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits }))
  },
  'a name is changed on a page': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    const fields = { method: 'profile', 'traits.email': email, 'traits.name.first': 'Grace' }
    testEnvironment.see('answer', await submitForm(client, flow, fields))
    testEnvironment.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
  'a page goes to return_to after a change': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings', '?return_to=/after')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'profile', 'traits.email': email }))
  },
  'traits are replaced as a whole': async (testEnvironment) => {
    const { client, email } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'profile', traits: { email, name: { first: 'Grace' } } }),
    )
  },
  'a new address must be verified': async (testEnvironment) => {
    const { client, id } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    const email = newEmail()
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits: { email, name: {} } }))
    testEnvironment.note('a code came', (await testEnvironment.code(email)).length)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
  },
  'a single-page application submits a new address': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } }),
    )
  },
  'a new address keeps other sessions and replaces the identifier': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    const other = await signIn(testEnvironment, user)
    const flow = await open(user.client, 'settings', 'api')
    await submit(user.client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } })
    testEnvironment.note('other', (await other.client.ask('/sessions/whoami')).status)
    const login = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: user.email, password }
    testEnvironment.see('former', await submit(testEnvironment.browser(), login, fields))
  },
  'a taken address is refused': async (testEnvironment) => {
    const taken = await makeUser(testEnvironment)
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'profile', traits: { email: taken.email, name: {} } }),
    )
  },
  'a malformed address is refused': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits: { email: 'ada', name: {} } }))
  },
  'a missing address is refused': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits: { name: {} } }))
  },
  'an unknown trait is refused': async (testEnvironment) => {
    const { client, email } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'profile', traits: { email, zap: 1 } }))
  },
  'an error of a page is shown on that page': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'profile', 'traits.email': 'ada' }))
    testEnvironment.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
}

const passwords: Record<string, Scenario> = {
  'a password is changed by API': async (testEnvironment) => {
    const { client, email } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
    const login = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email }
    testEnvironment.note('former', (await submit(testEnvironment.browser(), login, { ...fields, password })).status)
    testEnvironment.note(
      'new',
      (await submit(testEnvironment.browser(), login, { ...fields, password: newPassword })).status,
    )
  },
  'a password is changed in a single-page application': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'a password is changed on a page': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'other sessions stay active': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    const other = await signIn(testEnvironment, user)
    const flow = await open(user.client, 'settings', 'api')
    await submit(user.client, flow, { method: 'password', password: newPassword })
    testEnvironment.note('other', (await other.client.ask('/sessions/whoami')).status)
  },
  ...Object.fromEntries(
    Object.entries({ short: 'short', empty: '', missing: undefined }).map(([name, value]): [string, Scenario] => [
      `a password that is ${name} is refused`,
      async (testEnvironment) => {
        const { client } = await makeSignedInUser(testEnvironment)
        const flow = await open(client, 'settings', 'api')
        testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: value }))
      },
    ]),
  ),
  'a password like the address is refused': async (testEnvironment) => {
    const { client, email } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: email }))
  },
}

const privileged: Record<string, Scenario> = {
  'an old session may not change the password': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.ageSession(session.id)
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
  'an old session may not change the password in a browser': async (testEnvironment) => {
    const { client, session } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    await testEnvironment.clock.ageSession(session.id)
    testEnvironment.see('json', await submit(client, flow, { method: 'password', password: newPassword }))
    testEnvironment.see('page', await submitForm(client, flow, { method: 'password', password: newPassword }))
  },
  'an old session may not change the address': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.ageSession(session.id)
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'profile', traits: { email: newEmail(), name: {} } }),
    )
  },
  'an old session may change the name while the address is not verified': async (testEnvironment) => {
    const { client, session, email } = await signUp(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.ageSession(session.id)
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'profile', traits: { email, name: { first: 'Grace' } } }),
    )
  },
  'a confirmed session may change the password': async (testEnvironment) => {
    const { client, session, email } = await makeSignedInUser(testEnvironment)
    await testEnvironment.clock.ageSession(session.id)
    const login = await open(client, 'login', 'api', '?refresh=true')
    await submit(client, login, { method: 'password', identifier: email, password })
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'password', password: newPassword }))
  },
}

export const settings: Record<string, Scenario> = { ...form, ...profile, ...passwords, ...privileged }
