import { flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeUser, names, newEmail, signUp, type User } from '../users.ts'

const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

async function loginByApi(testEnvironment: TestEnvironment, user: User) {
  const flow = await open(testEnvironment.browser(), 'login', 'api')
  const sent = await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email })
  return { flow, sent, code: await testEnvironment.code(user.email) }
}

const login: Record<string, Scenario> = {
  'a code to sign in is sent': async (testEnvironment) => {
    const { flow, sent } = await loginByApi(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', sent)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'a code to sign in is sent for a single-page application': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', identifier: email }))
  },
  'a code to sign in is sent for a page': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', identifier: email }))
    testEnvironment.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'the right code signs an API client in': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { flow, code } = await loginByApi(testEnvironment, user)
    const done = await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email, code })
    testEnvironment.see('answer', done)
    const client = testEnvironment.browser({ 'x-session-token': done.json.session_token ?? '' })
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'the right code signs a single-page application in': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', identifier: email })
    const code = await testEnvironment.code(email)
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', identifier: email, code }))
  },
  'the right code signs a page in': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login', '?return_to=/after')
    await submitForm(client, flow, { method: 'code', identifier: email })
    const code = await testEnvironment.code(email)
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', identifier: email, code }))
  },
  'a user whose address is not verified signs in with a code': async (testEnvironment) => {
    const user = await signUp(testEnvironment)
    await testEnvironment.code(user.email)
    const { flow, code } = await loginByApi(testEnvironment, user)
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email, code }),
    )
    testEnvironment.see('whoami', await user.client.ask('/sessions/whoami'))
  },
  'a user without a password signs in with a code and sets one': async (testEnvironment) => {
    const user = await makeUser(testEnvironment, { credentials: undefined })
    const { flow, code } = await loginByApi(testEnvironment, user)
    const { json } = await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email, code })
    const client = testEnvironment.browser({ 'x-session-token': json.session_token ?? '' })
    const settings = await open(client, 'settings', 'api')
    testEnvironment.see(
      'answer',
      await submit(client, settings, { method: 'password', password: 'ten green Badgers 77' }),
    )
  },
  'a wrong code does not sign in': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { flow, code } = await loginByApi(testEnvironment, user)
    const fields = { method: 'code', identifier: user.email }
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...fields, code: wrong(code) }))
    testEnvironment.see('right', await submit(testEnvironment.browser(), flow, { ...fields, code }))
  },
  'a wrong code on a page does not sign in': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'login')
    await submitForm(client, flow, { method: 'code', identifier: email })
    const code = wrong(await testEnvironment.code(email))
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', identifier: email, code }))
    testEnvironment.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'no code signs in after too many wrong ones': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { flow, code } = await loginByApi(testEnvironment, user)
    const fields = { method: 'code', identifier: user.email }
    for (let i = 0; i < 5; i++) await submit(testEnvironment.browser(), flow, { ...fields, code: wrong(code) })
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...fields, code }))
  },
  'an expired code does not sign in': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { flow, code } = await loginByApi(testEnvironment, user)
    await testEnvironment.clock.expireCodes('login', flow.id)
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email, code }),
    )
  },
  'a second code invalidates the first one': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { flow, code } = await loginByApi(testEnvironment, user)
    const fields = { method: 'code', identifier: user.email }
    testEnvironment.see('again', await submit(testEnvironment.browser(), flow, { ...fields, resend: 'code' }))
    if ((await testEnvironment.code(user.email)) === code) return
    testEnvironment.see('first', await submit(testEnvironment.browser(), flow, { ...fields, code }))
  },
  'an unknown address does not sign in': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', identifier: newEmail() }),
    )
  },
  'a code without an address is refused': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code' }))
  },
  'a code before one was sent is refused': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', identifier: email, code: '123456' }),
    )
  },
  'a disabled user does not sign in with a code': async (testEnvironment) => {
    const user = await makeUser(testEnvironment, { state: 'inactive' })
    const { flow, code } = await loginByApi(testEnvironment, user)
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', identifier: user.email, code }),
    )
  },
  'a code authenticates the user of a session again': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const first = await loginByApi(testEnvironment, user)
    const signed = await submit(testEnvironment.browser(), first.flow, {
      method: 'code',
      identifier: user.email,
      code: first.code,
    })
    const client = testEnvironment.browser({ 'x-session-token': signed.json.session_token ?? '' })
    testEnvironment.see('init', await client.ask('/self-service/login/api?refresh=true'))
    const flow = await open(client, 'login', 'api', '?refresh=true')
    await submit(client, flow, { method: 'code', identifier: user.email })
    const code = await testEnvironment.code(user.email)
    const done = await submit(client, flow, { method: 'code', identifier: user.email, code })
    testEnvironment.see('answer', done)
    testEnvironment.note('the same session', done.json.session?.id === signed.json.session?.id)
  },
}

const traits = (email: string) => ({ email, name: names })

async function registrationByApi(testEnvironment: TestEnvironment) {
  const email = newEmail()
  const flow = await open(testEnvironment.browser(), 'registration', 'api')
  const sent = await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(email) })
  return { email, flow, sent, code: await testEnvironment.code(email) }
}

const registration: Record<string, Scenario> = {
  'a code to sign up is sent': async (testEnvironment) => {
    const { flow, sent } = await registrationByApi(testEnvironment)
    testEnvironment.see('answer', sent)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'a code to sign up is sent for a single-page application': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', traits: traits(newEmail()) }))
  },
  'a code to sign up is sent for a page': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'registration')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': newEmail() }))
    testEnvironment.see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'the right code signs an API client up': async (testEnvironment) => {
    const { email, flow, code } = await registrationByApi(testEnvironment)
    const done = await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(email), code })
    testEnvironment.see('answer', done)
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${done.json.identity?.id}`))
  },
  'the right code signs a single-page application up': async (testEnvironment) => {
    const email = newEmail()
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', traits: traits(email) })
    const code = await testEnvironment.code(email)
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', traits: traits(email), code }))
  },
  'the right code signs a page up': async (testEnvironment) => {
    const email = newEmail()
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'registration', '?return_to=/after')
    await submitForm(client, flow, { method: 'code', 'traits.email': email })
    const code = await testEnvironment.code(email)
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': email, code }))
  },
  'a wrong code does not sign up': async (testEnvironment) => {
    const { email, flow, code } = await registrationByApi(testEnvironment)
    const fields = { method: 'code', traits: traits(email) }
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...fields, code: wrong(code) }))
    testEnvironment.note('right', (await submit(testEnvironment.browser(), flow, { ...fields, code })).status)
  },
  'a wrong code on a page does not sign up': async (testEnvironment) => {
    const email = newEmail()
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'registration')
    await submitForm(client, flow, { method: 'code', 'traits.email': email })
    const code = wrong(await testEnvironment.code(email))
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': email, code }))
    testEnvironment.see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'too many wrong codes end the flow': async (testEnvironment) => {
    const { email, flow, code } = await registrationByApi(testEnvironment)
    const fields = { method: 'code', traits: traits(email) }
    for (let i = 0; i < 5; i++) await submit(testEnvironment.browser(), flow, { ...fields, code: wrong(code) })
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { ...fields, code }))
  },
  'an expired code does not sign up': async (testEnvironment) => {
    const { email, flow, code } = await registrationByApi(testEnvironment)
    await testEnvironment.clock.expireCodes('registration', flow.id)
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(email), code }),
    )
  },
  'an address that the code was not sent to is not signed up': async (testEnvironment) => {
    const { flow, code } = await registrationByApi(testEnvironment)
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(newEmail()), code }),
    )
  },
  'a taken address is refused': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'registration', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(email) }),
    )
  },
  'a malformed address is refused': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'registration', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits('ada') }),
    )
  },
  'a user who signed up with a code signs in with a code': async (testEnvironment) => {
    const { email, flow, code } = await registrationByApi(testEnvironment)
    const { json } = await submit(testEnvironment.browser(), flow, { method: 'code', traits: traits(email), code })
    const next = await loginByApi(testEnvironment, { email, id: json.identity?.id ?? '' })
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), next.flow, { method: 'code', identifier: email, code: next.code }),
    )
  },
  'the page of a registration with a code can be opened again': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const answer = await client.page('/self-service/registration/browser?return_to=/after')
    const id = flowIdIn(answer.location)
    const path = `/self-service/registration/flows?id=${id}`
    const { json } = await client.ask<{ ui: never; id: string }>(path)
    await submitForm(
      client,
      { ...json, kind: 'registration', type: 'browser' },
      { method: 'code', 'traits.email': newEmail() },
    )
    testEnvironment.see('answer', await client.ask(path))
  },
}

export const codes: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(login).map(([name, scenario]) => [`sign in: ${name}`, scenario])),
  ...Object.fromEntries(Object.entries(registration).map(([name, scenario]) => [`sign up: ${name}`, scenario])),
}
