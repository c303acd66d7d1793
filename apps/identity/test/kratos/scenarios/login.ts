import type { Identity } from '@ory/kratos-client'
import { flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario } from '../service.ts'
import {
  makeBrowserUser,
  makeSignedInUser,
  makeUser,
  newEmail,
  nobody,
  password,
  signInBrowser,
  signUp,
} from '../users.ts'

const fields = (identifier: string) => ({ method: 'password', identifier, password })

/** A submit of an API client with other fields than its password. */
const refused =
  (change: Record<string, unknown>): Scenario =>
  async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...fields(email), ...change }))
  }

const form: Record<string, Scenario> = {
  'a flow of an API client': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/login/api'))
  },
  'a flow of a single-page application': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/login/browser?return_to=/projects'))
  },
  'a page is sent to the form with its flow': async ({ browser, see }) => {
    const client = browser()
    const answer = await client.page('/self-service/login/browser?return_to=/projects')
    see('answer', answer)
    see('flow', await client.ask(`/self-service/login/flows?id=${flowIdIn(answer.location)}`))
  },
  'an API flow can be read by any client': async ({ browser, see }) => {
    const flow = await open(browser(), 'login', 'api')
    see('answer', await browser().ask(`/self-service/login/flows?id=${flow.id}`))
    see('page', await browser().page(`/self-service/login/flows?id=${flow.id}`))
  },
}

const success: Record<string, Scenario> = {
  'an API client gets a token': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const done = await submit(testEnvironment.browser(), flow, fields(email))
    testEnvironment.see('answer', done)
    const client = testEnvironment.browser({ 'x-session-token': done.json.session_token ?? '' })
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'an API flow may be used again': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const first = await submit(testEnvironment.browser(), flow, fields(email))
    const second = await submit(testEnvironment.browser(), flow, fields(email))
    testEnvironment.see('answer', second)
    testEnvironment.note('another session', first.json.session?.id !== second.json.session?.id)
  },
  'a failed flow can be submitted again': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'failed',
      await submit(testEnvironment.browser(), flow, { ...fields(email), password: 'not my password' }),
    )
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
  },
  'a single-page application gets cookies and the address to continue at': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/projects')
    testEnvironment.see('answer', await submit(client, flow, fields(email)))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a page goes to return_to': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login', '?return_to=/projects')
    testEnvironment.see('answer', await submitForm(client, flow, fields(email)))
  },
  'a page without return_to goes to the console': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    testEnvironment.see('answer', await submitForm(client, flow, fields(email)))
  },
  'spaces and capitals of the address do not matter': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(`  ${email.toUpperCase()} `)))
  },
  'the previous name of the identifier field is accepted': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const { identifier: password_identifier, ...rest } = fields(email)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...rest, password_identifier }))
  },
}

const mistakes: Record<string, Scenario> = {
  'a wrong password': refused({ password: 'not my password' }),
  'an unknown user': async ({ browser, see }) => {
    const flow = await open(browser(), 'login', 'api')
    see('answer', await submit(browser(), flow, fields(newEmail())))
  },
  'a user without a password': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment, { credentials: undefined })
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
  },
  'spaces around the password': refused({ password: ` ${password}` }),
  'no password': refused({ password: undefined }),
  'an empty password': refused({ password: '' }),
  'no identifier': refused({ identifier: undefined }),
  'an empty identifier': refused({ identifier: '' }),
  'neither identifier nor password': refused({ identifier: undefined, password: undefined }),
  'a number as identifier': refused({ identifier: 5 }),
  'a number as password': refused({ password: 5 }),
  'no method': refused({ method: undefined }),
  'an unknown method': refused({ method: 'telepathy' }),
  'a method that is not configured': refused({ method: 'oidc', provider: 'google' }),
  'a method of other flows': refused({ method: 'link' }),
  'a wrong password on a page': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    testEnvironment.see('answer', await submitForm(client, flow, { ...fields(email), password: 'not my password' }))
    testEnvironment.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'a wrong password in a single-page application': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { ...fields(email), password: 'not my password' }))
  },
  'an address that is not verified': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
    testEnvironment.see(
      'wrong password',
      await submit(testEnvironment.browser(), flow, { ...fields(email), password: 'not my password' }),
    )
  },
  'an address that is not verified, on a page': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    testEnvironment.see('answer', await submitForm(client, flow, fields(email)))
    testEnvironment.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'a disabled user': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment, { state: 'inactive' })
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
    testEnvironment.see(
      'wrong password',
      await submit(testEnvironment.browser(), flow, { ...fields(email), password: 'not my password' }),
    )
  },
  'a disabled user in a browser': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment, { state: 'inactive' })
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    testEnvironment.see('json', await submit(client, flow, fields(email)))
    testEnvironment.see('page', await submitForm(client, flow, fields(email)))
  },
}

const flowless: Record<string, Scenario> = {
  'a flow that does not exist': async ({ browser, see }) => {
    const path = `/self-service/login?flow=${nobody}`
    see('json', await browser().ask(path, { json: fields(newEmail()) }))
    see('page', await browser().page(path, { form: { method: 'password' } }))
    see('read', await browser().ask(`/self-service/login/flows?id=${nobody}`))
  },
  'a missing or malformed flow id': async ({ browser, see }) => {
    see('none', await browser().ask('/self-service/login', { json: fields(newEmail()) }))
    see('none on a page', await browser().page('/self-service/login', { form: fields(newEmail()) }))
    see('nonsense', await browser().ask('/self-service/login?flow=zz', { json: fields(newEmail()) }))
    see('read none', await browser().ask('/self-service/login/flows'))
    see('read nonsense', await browser().ask('/self-service/login/flows?id=zz'))
  },
  'a flow that expired, by API': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    await testEnvironment.clock.expireFlow('login', flow.id)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/login/flows?id=${flow.id}`))
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
  },
  'a flow that expired, in a browser': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/projects')
    await testEnvironment.clock.expireFlow('login', flow.id)
    testEnvironment.see('read', await client.ask(`/self-service/login/flows?id=${flow.id}`))
    const answer = await submit(client, flow, fields(email))
    testEnvironment.see('answer', answer)
    const { use_flow_id: next } = answer.json as { use_flow_id?: string }
    testEnvironment.see('next', await client.ask(`/self-service/login/flows?id=${next}`))
  },
  'a flow that expired, on a page': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    await testEnvironment.clock.expireFlow('login', flow.id)
    const answer = await submitForm(client, flow, fields(email))
    testEnvironment.see('answer', answer)
    testEnvironment.see('next', await client.ask(`/self-service/login/flows?id=${flowIdIn(answer.location)}`))
  },
}

const signedIn: Record<string, Scenario> = {
  'an API client that is signed in gets no flow': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/login/api'))
  },
  'a browser that is signed in gets no flow': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await client.ask('/self-service/login/browser'))
    testEnvironment.see('page', await client.page('/self-service/login/browser'))
    testEnvironment.see('page with return_to', await client.page('/self-service/login/browser?return_to=/projects'))
  },
  'a browser that is signed in submits nothing': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const token = client.sessionCookie
    client.cookies.delete('ory_kratos_session')
    const flow = await open(client, 'login', 'browser')
    client.cookies.set('ory_kratos_session', token ?? '')
    testEnvironment.see('json', await submit(client, flow, fields(email)))
    testEnvironment.see('page', await submitForm(client, flow, fields(email)))
  },
  'an API client that is signed in submits nothing': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const { client, email } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await submit(client, flow, fields(email)))
  },
}

const refresh: Record<string, Scenario> = {
  'an API client authenticates again and keeps its session': async (testEnvironment) => {
    const { client, email, session } = await makeSignedInUser(testEnvironment)
    const init = await client.ask('/self-service/login/api?refresh=true')
    testEnvironment.see('init', init)
    const flow = { ...(init.json as { id: string; ui: never }), kind: 'login', type: 'api' } as const
    const done = await submit(client, flow, fields(email))
    testEnvironment.see('answer', done)
    testEnvironment.note('the same session', done.json.session?.id === session.id)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a single-page application authenticates again': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const init = await client.ask('/self-service/login/browser?refresh=true')
    testEnvironment.see('init', init)
    const flow = { ...(init.json as { id: string; ui: never }), kind: 'login', type: 'browser' } as const
    testEnvironment.see('wrong', await submit(client, flow, { ...fields(email), password: 'not my password' }))
    testEnvironment.see('answer', await submit(client, flow, fields(email)))
  },
  'a page authenticates again': async (testEnvironment) => {
    const { client, email } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'login', '?refresh=true&return_to=/projects')
    testEnvironment.see('answer', await submitForm(client, flow, fields(email)))
  },
  'without a session a refresh is an ordinary flow': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/login/api?refresh=true'))
    see('json', await browser().ask('/self-service/login/browser?refresh=true'))
  },
  "a refresh with somebody else's password signs them in": async (testEnvironment) => {
    const other = await makeUser(testEnvironment)
    const { client, session } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'login', 'browser', '?refresh=true')
    const done = await submit(client, flow, fields(other.email))
    testEnvironment.see('answer', done)
    testEnvironment.note('another session', done.json.session?.id !== session.id)
    const { json } = await client.ask<{ identity: Identity }>('/sessions/whoami')
    testEnvironment.note('another user', json.identity?.id === other.id)
  },
}

const returnTo: Record<string, Scenario> = Object.fromEntries(
  Object.entries({
    'a path': '/dashboard',
    'an address of the console': 'http://localhost:8000/projects?a=b',
    'another host': 'http://evil.test/',
    'another host without scheme': '//evil.test',
    'another port': 'http://localhost:8001/',
    'a script': 'javascript:alert(1)',
    'an address that cannot be parsed': 'http://%zz',
    'an address with a user': 'http://localhost:8000@evil.test/',
    nothing: '',
  }).map(([name, target]): [string, Scenario] => [
    `return_to as ${name}`,
    async ({ browser, see }) => {
      const query = `return_to=${encodeURIComponent(target)}`
      see('json', await browser().ask(`/self-service/login/browser?${query}`))
      see('page', await browser().page(`/self-service/login/browser?${query}`))
      see('api', await browser().ask(`/self-service/login/api?${query}`))
    },
  ]),
)

const assurance: Record<string, Scenario> = {
  'a second factor without a session': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/login/api?aal=aal2'))
    see('json', await browser().ask('/self-service/login/browser?aal=aal2'))
    see('page', await browser().page('/self-service/login/browser?aal=aal2'))
  },
  'an unknown level': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/login/api?aal=aal9'))
    see('page', await browser().page('/self-service/login/browser?aal=aal9'))
  },
  'the first level by name': async ({ browser, see }) => {
    see('api', await browser().ask('/self-service/login/api?aal=aal1'))
  },
  'the first level again': async (testEnvironment) => {
    const client = await signInBrowser(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', await client.ask('/self-service/login/browser?aal=aal1'))
  },
}

export const login: Record<string, Scenario> = {
  ...form,
  ...success,
  ...Object.fromEntries(Object.entries(mistakes).map(([name, scenario]) => [`${name} is refused`, scenario])),
  ...Object.fromEntries(Object.entries(flowless).map(([name, scenario]) => [`${name} does not sign in`, scenario])),
  ...signedIn,
  ...refresh,
  ...returnTo,
  ...Object.fromEntries(Object.entries(assurance).map(([name, scenario]) => [`${name} is requested`, scenario])),
}
