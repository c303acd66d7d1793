import { open, openPage, read, submit, submitForm } from '../flows.ts'
import type { Scenario } from '../service.ts'
import { makeBrowserUser, makeSignedInUser, makeUser, names, newEmail, nobody, password } from '../users.ts'

const fields = (email = newEmail()) => ({ method: 'password', password, traits: { email, name: names } })

/** A form that is refused, by API. */
const refused =
  (change: (email: string) => Record<string, unknown>): Scenario =>
  async ({ browser, see }) => {
    const email = newEmail()
    const flow = await open(browser(), 'registration', 'api')
    see('answer', await submit(browser(), flow, { ...fields(email), ...change(email) }))
  }

const form: Record<string, Scenario> = {
  'a flow of an API client has inputs for all traits and a password': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/registration/api'))
  },
  'a flow of a single-page application also offers passkeys': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/registration/browser'))
  },
  'a page is sent to the form with its flow': async ({ browser, see }) => {
    const client = browser()
    const answer = await client.page('/self-service/registration/browser?return_to=/after')
    see('answer', answer)
    const id = new URL(answer.location ?? '').searchParams.get('flow')
    see('flow', await client.ask(`/self-service/registration/flows?id=${id}`))
  },
  'an API flow can be read': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api', '?return_to=/after')
    see('answer', await browser().ask(`/self-service/registration/flows?id=${flow.id}`))
  },
}

const success: Record<string, Scenario> = {
  'an API client gets a token, the identity and the verification flow': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    const made = await submit(browser(), flow, fields())
    see('answer', made)
    see('whoami', await browser({ 'x-session-token': made.json.session_token ?? '' }).ask('/sessions/whoami'))
  },
  'a single-page application gets cookies and the address to continue at': async ({ browser, see }) => {
    const client = browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    see('answer', await submit(client, flow, fields()))
    see('whoami', await client.ask('/sessions/whoami'))
  },
  'a page goes to return_to': async ({ browser, see }) => {
    const client = browser()
    const flow = await openPage(client, 'registration', '?return_to=/after')
    see('answer', await submitForm(client, flow, { method: 'password', password, 'traits.email': newEmail() }))
  },
  'a page without return_to goes to the console': async ({ browser, see }) => {
    const client = browser()
    const flow = await openPage(client, 'registration')
    see('answer', await submitForm(client, flow, { method: 'password', password, 'traits.email': newEmail() }))
  },
  'a form body with Accept JSON is answered with JSON': async ({ browser, see }) => {
    const client = browser()
    const flow = await open(client, 'registration', 'browser')
    const csrf = flow.ui.nodes.flatMap(({ attributes }) =>
      'name' in attributes && attributes.name === 'csrf_token' ? [String(attributes.value)] : [],
    )
    const body = {
      csrf_token: csrf[0] ?? '',
      method: 'password',
      password,
      'traits.email': newEmail(),
      'traits.name.first': 'Ada',
    }
    see('answer', await client.ask(`/self-service/registration?flow=${flow.id}`, { form: body }))
  },
  'the address keeps its capitals and is compared without': async ({ browser, admin, see }) => {
    const email = newEmail()
    const flow = await open(browser(), 'registration', 'api')
    const made = await submit(browser(), flow, { ...fields(email), traits: { email } })
    see('answer', made)
    see('identity', await admin(`/identities/${made.json.identity?.id}`))
  },
  'field names with dots are paths': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    const dotted = { method: 'password', password, 'traits.email': newEmail(), 'traits.name.first': 'Ada' }
    see('answer', await submit(browser(), flow, dotted))
  },
  'an optional trait may be empty': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    const traits = { email: newEmail(), name: { first: '', last: '' } }
    see('answer', await submit(browser(), flow, { ...fields(), traits }))
  },
  'a password may have 200 characters': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    see('answer', await submit(browser(), flow, { ...fields(), password: 'Otters 31 '.repeat(20) }))
  },
  'a failed flow can be submitted again': async ({ browser, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    see('failed', await submit(browser(), flow, { ...fields(), password: 'short' }))
    see('read', await browser().ask(`/self-service/registration/flows?id=${flow.id}`))
    see('answer', await submit(browser(), flow, fields()))
  },
}

const mistakes: Record<string, Scenario> = {
  'a short password': refused(() => ({ password: 'short' })),
  'a password like the address': refused((email) => ({ password: email.toLowerCase() })),
  'a password near the address': refused((email) => ({ password: `${email.toLowerCase()}1` })),
  'no password': refused(() => ({ password: undefined })),
  'an empty password': refused(() => ({ password: '' })),
  'a number as password': refused(() => ({ password: 12 })),
  'an empty address': refused(() => ({ traits: { email: '', name: names } })),
  'no address': refused(() => ({ traits: { name: names } })),
  'a malformed address': refused(() => ({ traits: { email: 'ada', name: names } })),
  'a number as address': refused(() => ({ traits: { email: 5 } })),
  'no traits': refused(() => ({ traits: undefined })),
  'a text as traits': refused(() => ({ traits: 'ada' })),
  'an unknown trait': refused((email) => ({ traits: { email, zap: 1 } })),
  'an unknown part of the name': refused((email) => ({ traits: { email, name: { middle: 'M' } } })),
  'a text as name': refused((email) => ({ traits: { email, name: 'Ada' } })),
  'no method': refused(() => ({ method: undefined })),
  'an unknown method': refused(() => ({ method: 'telepathy' })),
  'a method that is not configured': refused(() => ({ method: 'oidc', provider: 'google' })),
  'a method of other flows': refused(() => ({ method: 'totp', totp_code: '123456' })),
  'a taken address': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'registration', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
  },
  'a taken address in other capitals, in a browser': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser')
    testEnvironment.see('answer', await submit(client, flow, fields(email.toUpperCase())))
  },
  'a taken address on a page': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'registration')
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { method: 'password', password, 'traits.email': email }),
    )
    testEnvironment.see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'a mistake on a page': async ({ browser, see }) => {
    const client = browser()
    const flow = await openPage(client, 'registration')
    const typed = { method: 'password', password: 'short', 'traits.email': newEmail(), 'traits.name.first': 'Ada' }
    see('answer', await submitForm(client, flow, typed))
    see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'a mistake in a single-page application': async ({ browser, see }) => {
    const client = browser()
    const flow = await open(client, 'registration', 'browser')
    see('answer', await submit(client, flow, { ...fields(), password: 'short' }))
  },
}

const flowless: Record<string, Scenario> = {
  'a flow that does not exist': async ({ browser, see }) => {
    const path = `/self-service/registration?flow=${nobody}`
    see('json', await browser().ask(path, { json: fields() }))
    see('page', await browser().page(path, { form: { method: 'password' } }))
    see('read', await browser().ask(`/self-service/registration/flows?id=${nobody}`))
    see('read by a page', await browser().page(`/self-service/registration/flows?id=${nobody}`))
  },
  'a missing or malformed flow id': async ({ browser, see }) => {
    see('none', await browser().ask('/self-service/registration', { json: fields() }))
    see('in the body', await browser().ask('/self-service/registration', { json: { ...fields(), flow: nobody } }))
    see('nonsense', await browser().ask('/self-service/registration?flow=zz', { json: fields() }))
    see('read none', await browser().ask('/self-service/registration/flows'))
    see('read nonsense', await browser().ask('/self-service/registration/flows?id=zz'))
  },
  'a flow that expired, by API': async ({ browser, clock, see }) => {
    const flow = await open(browser(), 'registration', 'api')
    await clock.expireFlow('registration', flow.id)
    see('read', await browser().ask(`/self-service/registration/flows?id=${flow.id}`))
    see('answer', await submit(browser(), flow, fields()))
  },
  'a flow that expired, in a browser': async ({ browser, clock, see }) => {
    const client = browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    await clock.expireFlow('registration', flow.id)
    see('read', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
    const answer = await submit(client, flow, fields())
    see('answer', answer)
    const { use_flow_id: next } = answer.json as { use_flow_id?: string }
    see('next', await client.ask(`/self-service/registration/flows?id=${next}`))
  },
  'a flow that expired, on a page': async ({ browser, clock, see }) => {
    const client = browser()
    const flow = await openPage(client, 'registration')
    await clock.expireFlow('registration', flow.id)
    const answer = await submitForm(client, flow, { method: 'password', password, 'traits.email': newEmail() })
    see('answer', answer)
    const next = await read(client, 'registration', new URL(answer.location ?? '').searchParams.get('flow') ?? '')
    see('next', await client.ask(`/self-service/registration/flows?id=${next.id}`))
  },
}

const signedIn: Record<string, Scenario> = {
  'an API client that is signed in gets no flow': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/registration/api'))
  },
  'a browser that is signed in gets no flow': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await client.ask('/self-service/registration/browser'))
    testEnvironment.see('page', await client.page('/self-service/registration/browser?return_to=/after'))
  },
  'an API client that is signed in submits nothing': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'registration', 'api')
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await submit(client, flow, fields()))
  },
  'a browser that is signed in submits nothing': async (testEnvironment) => {
    const { client, session } = await makeBrowserUser(testEnvironment)
    const token = client.sessionCookie
    client.cookies.delete('ory_kratos_session')
    const flow = await open(client, 'registration', 'browser')
    client.cookies.set('ory_kratos_session', token ?? '')
    testEnvironment.note('still the same', session.active)
    testEnvironment.see('json', await submit(client, flow, fields()))
    testEnvironment.see(
      'page',
      await submitForm(client, flow, { method: 'password', password, 'traits.email': newEmail() }),
    )
  },
}

export const registration: Record<string, Scenario> = {
  ...form,
  ...success,
  ...Object.fromEntries(Object.entries(mistakes).map(([name, scenario]) => [`${name} is refused`, scenario])),
  ...Object.fromEntries(Object.entries(flowless).map(([name, scenario]) => [`${name} does not sign up`, scenario])),
  ...signedIn,
}
