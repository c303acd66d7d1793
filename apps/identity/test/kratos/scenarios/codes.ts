import { flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import { makePerson, names, newEmail, type Person, signUp } from '../people.ts'
import type { Scenario, World } from '../world.ts'

const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

async function loginByApi(world: World, person: Person) {
  const flow = await open(world.browser(), 'login', 'api')
  const sent = await submit(world.browser(), flow, { method: 'code', identifier: person.email })
  return { flow, sent, code: await world.code(person.email) }
}

const login: Record<string, Scenario> = {
  'a code to sign in is sent': async (world) => {
    const { flow, sent } = await loginByApi(world, await makePerson(world))
    world.see('answer', sent)
    world.see('read', await world.browser().ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'a code to sign in is sent for a single-page application': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await open(client, 'login', 'browser')
    world.see('answer', await submit(client, flow, { method: 'code', identifier: email }))
  },
  'a code to sign in is sent for a page': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'login')
    world.see('answer', await submitForm(client, flow, { method: 'code', identifier: email }))
    world.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'the right code signs an API client in': async (world) => {
    const person = await makePerson(world)
    const { flow, code } = await loginByApi(world, person)
    const done = await submit(world.browser(), flow, { method: 'code', identifier: person.email, code })
    world.see('answer', done)
    const client = world.browser({ 'x-session-token': done.json.session_token ?? '' })
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'the right code signs a single-page application in': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await open(client, 'login', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', identifier: email })
    const code = await world.code(email)
    world.see('answer', await submit(client, flow, { method: 'code', identifier: email, code }))
  },
  'the right code signs a page in': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'login', '?return_to=/after')
    await submitForm(client, flow, { method: 'code', identifier: email })
    const code = await world.code(email)
    world.see('answer', await submitForm(client, flow, { method: 'code', identifier: email, code }))
  },
  'a person whose address is not verified signs in with a code': async (world) => {
    const person = await signUp(world)
    await world.code(person.email)
    const { flow, code } = await loginByApi(world, person)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', identifier: person.email, code }))
    world.see('whoami', await person.client.ask('/sessions/whoami'))
  },
  'a person without a password signs in with a code and sets one': async (world) => {
    const person = await makePerson(world, { credentials: undefined })
    const { flow, code } = await loginByApi(world, person)
    const { json } = await submit(world.browser(), flow, { method: 'code', identifier: person.email, code })
    const client = world.browser({ 'x-session-token': json.session_token ?? '' })
    const settings = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, settings, { method: 'password', password: 'ten green Badgers 77' }))
  },
  'a wrong code does not sign in': async (world) => {
    const person = await makePerson(world)
    const { flow, code } = await loginByApi(world, person)
    const fields = { method: 'code', identifier: person.email }
    world.see('answer', await submit(world.browser(), flow, { ...fields, code: wrong(code) }))
    world.see('right', await submit(world.browser(), flow, { ...fields, code }))
  },
  'a wrong code on a page does not sign in': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'login')
    await submitForm(client, flow, { method: 'code', identifier: email })
    const code = wrong(await world.code(email))
    world.see('answer', await submitForm(client, flow, { method: 'code', identifier: email, code }))
    world.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'too many wrong codes end it': async (world) => {
    const person = await makePerson(world)
    const { flow, code } = await loginByApi(world, person)
    const fields = { method: 'code', identifier: person.email }
    for (let i = 0; i < 5; i++) await submit(world.browser(), flow, { ...fields, code: wrong(code) })
    world.see('answer', await submit(world.browser(), flow, { ...fields, code }))
  },
  'an expired code does not sign in': async (world) => {
    const person = await makePerson(world)
    const { flow, code } = await loginByApi(world, person)
    await world.clock.expireCodes('login', flow.id)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', identifier: person.email, code }))
  },
  'another code makes the first worthless': async (world) => {
    const person = await makePerson(world)
    const { flow, code } = await loginByApi(world, person)
    const fields = { method: 'code', identifier: person.email }
    world.see('again', await submit(world.browser(), flow, { ...fields, resend: 'code' }))
    if ((await world.code(person.email)) === code) return
    world.see('first', await submit(world.browser(), flow, { ...fields, code }))
  },
  'an unknown address is no way in': async (world) => {
    const flow = await open(world.browser(), 'login', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code', identifier: newEmail() }))
  },
  'a code without an address is refused': async (world) => {
    const flow = await open(world.browser(), 'login', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code' }))
  },
  'a code before one was sent is refused': async (world) => {
    const { email } = await makePerson(world)
    const flow = await open(world.browser(), 'login', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code', identifier: email, code: '123456' }))
  },
  'a disabled person does not sign in with a code': async (world) => {
    const person = await makePerson(world, { state: 'inactive' })
    const { flow, code } = await loginByApi(world, person)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', identifier: person.email, code }))
  },
  'a code confirms who a browser is': async (world) => {
    const person = await makePerson(world)
    const first = await loginByApi(world, person)
    const signed = await submit(world.browser(), first.flow, {
      method: 'code',
      identifier: person.email,
      code: first.code,
    })
    const client = world.browser({ 'x-session-token': signed.json.session_token ?? '' })
    world.see('init', await client.ask('/self-service/login/api?refresh=true'))
    const flow = await open(client, 'login', 'api', '?refresh=true')
    await submit(client, flow, { method: 'code', identifier: person.email })
    const code = await world.code(person.email)
    const done = await submit(client, flow, { method: 'code', identifier: person.email, code })
    world.see('answer', done)
    world.note('the same session', done.json.session?.id === signed.json.session?.id)
  },
}

const traits = (email: string) => ({ email, name: names })

async function registrationByApi(world: World) {
  const email = newEmail()
  const flow = await open(world.browser(), 'registration', 'api')
  const sent = await submit(world.browser(), flow, { method: 'code', traits: traits(email) })
  return { email, flow, sent, code: await world.code(email) }
}

const registration: Record<string, Scenario> = {
  'a code to sign up is sent': async (world) => {
    const { flow, sent } = await registrationByApi(world)
    world.see('answer', sent)
    world.see('read', await world.browser().ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'a code to sign up is sent for a single-page application': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'registration', 'browser')
    world.see('answer', await submit(client, flow, { method: 'code', traits: traits(newEmail()) }))
  },
  'a code to sign up is sent for a page': async (world) => {
    const client = world.browser()
    const flow = await openPage(client, 'registration')
    world.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': newEmail() }))
    world.see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'the right code signs an API client up': async (world) => {
    const { email, flow, code } = await registrationByApi(world)
    const done = await submit(world.browser(), flow, { method: 'code', traits: traits(email), code })
    world.see('answer', done)
    world.see('identity', await world.admin(`/identities/${done.json.identity?.id}`))
  },
  'the right code signs a single-page application up': async (world) => {
    const email = newEmail()
    const client = world.browser()
    const flow = await open(client, 'registration', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', traits: traits(email) })
    const code = await world.code(email)
    world.see('answer', await submit(client, flow, { method: 'code', traits: traits(email), code }))
  },
  'the right code signs a page up': async (world) => {
    const email = newEmail()
    const client = world.browser()
    const flow = await openPage(client, 'registration', '?return_to=/after')
    await submitForm(client, flow, { method: 'code', 'traits.email': email })
    const code = await world.code(email)
    world.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': email, code }))
  },
  'a wrong code does not sign up': async (world) => {
    const { email, flow, code } = await registrationByApi(world)
    const fields = { method: 'code', traits: traits(email) }
    world.see('answer', await submit(world.browser(), flow, { ...fields, code: wrong(code) }))
    world.note('right', (await submit(world.browser(), flow, { ...fields, code })).status)
  },
  'a wrong code on a page does not sign up': async (world) => {
    const email = newEmail()
    const client = world.browser()
    const flow = await openPage(client, 'registration')
    await submitForm(client, flow, { method: 'code', 'traits.email': email })
    const code = wrong(await world.code(email))
    world.see('answer', await submitForm(client, flow, { method: 'code', 'traits.email': email, code }))
    world.see('flow', await client.ask(`/self-service/registration/flows?id=${flow.id}`))
  },
  'too many wrong codes end the flow': async (world) => {
    const { email, flow, code } = await registrationByApi(world)
    const fields = { method: 'code', traits: traits(email) }
    for (let i = 0; i < 5; i++) await submit(world.browser(), flow, { ...fields, code: wrong(code) })
    world.see('answer', await submit(world.browser(), flow, { ...fields, code }))
  },
  'an expired code does not sign up': async (world) => {
    const { email, flow, code } = await registrationByApi(world)
    await world.clock.expireCodes('registration', flow.id)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', traits: traits(email), code }))
  },
  'another address than the one the code went to is not signed up': async (world) => {
    const { flow, code } = await registrationByApi(world)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', traits: traits(newEmail()), code }))
  },
  'a taken address is refused': async (world) => {
    const { email } = await makePerson(world)
    const flow = await open(world.browser(), 'registration', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code', traits: traits(email) }))
  },
  'something that is no address is refused': async (world) => {
    const flow = await open(world.browser(), 'registration', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code', traits: traits('ada') }))
  },
  'who signed up with a code signs in with a code': async (world) => {
    const { email, flow, code } = await registrationByApi(world)
    const { json } = await submit(world.browser(), flow, { method: 'code', traits: traits(email), code })
    const next = await loginByApi(world, { email, id: json.identity?.id ?? '' })
    world.see(
      'answer',
      await submit(world.browser(), next.flow, { method: 'code', identifier: email, code: next.code }),
    )
  },
  'the page of a code registration can be found again': async (world) => {
    const client = world.browser()
    const answer = await client.page('/self-service/registration/browser?return_to=/after')
    const id = flowIdIn(answer.location)
    const path = `/self-service/registration/flows?id=${id}`
    const { json } = await client.ask<{ ui: never; id: string }>(path)
    await submitForm(
      client,
      { ...json, kind: 'registration', type: 'browser' },
      { method: 'code', 'traits.email': newEmail() },
    )
    world.see('answer', await client.ask(path))
  },
}

export const codes: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(login).map(([name, scenario]) => [`sign in: ${name}`, scenario])),
  ...Object.fromEntries(Object.entries(registration).map(([name, scenario]) => [`sign up: ${name}`, scenario])),
}
