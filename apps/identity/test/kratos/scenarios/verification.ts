import { flowIdIn, nextFlow, open, openPage, read, submit, submitForm } from '../flows.ts'
import { makePerson, newEmail, nobody, password, signUp } from '../people.ts'
import type { Scenario, World } from '../world.ts'

/** Not the code that was sent. */
const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

/** Somebody with an address to verify and an API flow that has just sent the code. */
async function withCode(world: World) {
  const person = await signUp(world)
  await world.code(person.email)
  const flow = await open(world.browser(), 'verification', 'api')
  const sent = await submit(world.browser(), flow, { method: 'code', email: person.email.toLowerCase() })
  return { person, flow, sent, code: await world.code(person.email) }
}

const form: Record<string, Scenario> = {
  'a flow of an API client': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/verification/api?return_to=/after'))
  },
  'a flow of a single-page application': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/verification/browser?return_to=/after'))
  },
  'a page is sent to the form with its flow': async ({ browser, see }) => {
    const client = browser()
    const answer = await client.page('/self-service/verification/browser')
    see('answer', answer)
    see('flow', await client.ask(`/self-service/verification/flows?id=${flowIdIn(answer.location)}`))
  },
  'the flow that signing up opened waits for the code': async (world) => {
    const { flow } = await signUp(world)
    world.see('answer', await world.browser().ask(`/self-service/verification/flows?id=${flow}`))
  },
  'the flow that signing up in a browser opened belongs to that browser': async ({ browser, see }) => {
    const client = browser()
    const registration = await open(client, 'registration', 'browser')
    const fields = { method: 'password', password, traits: { email: newEmail() } }
    const { json } = await submit(client, registration, fields)
    const id = nextFlow(json, 'show_verification_ui')
    see('answer', await client.ask(`/self-service/verification/flows?id=${id}`))
    see('elsewhere', await browser().ask(`/self-service/verification/flows?id=${id}`))
  },
  'a signed-in person may verify, too': async (world) => {
    const { client } = await signUp(world)
    world.see('answer', await client.ask('/self-service/verification/api'))
  },
}

const sending: Record<string, Scenario> = {
  'a code is sent': async (world) => {
    const { sent } = await withCode(world)
    world.see('answer', sent)
  },
  'a code is sent for a single-page application': async (world) => {
    const { email } = await signUp(world)
    const client = world.browser()
    const flow = await open(client, 'verification', 'browser')
    world.see('answer', await submit(client, flow, { method: 'code', email: email.toLowerCase() }))
  },
  'a code is sent for a page': async (world) => {
    const { email } = await signUp(world)
    const client = world.browser()
    const flow = await openPage(client, 'verification')
    world.see('answer', await submitForm(client, flow, { method: 'code', email: email.toLowerCase() }))
    world.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'a stranger is answered alike': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: newEmail().toLowerCase() }))
  },
  'a verified address may be verified again': async (world) => {
    const { email } = await makePerson(world)
    const flow = await open(world.browser(), 'verification', 'api')
    world.see('sent', await submit(world.browser(), flow, { method: 'code', email: email.toLowerCase() }))
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code: await world.code(email) }))
  },
  'another code makes the first worthless': async (world) => {
    const { person, flow, code } = await withCode(world)
    world.see('again', await submit(world.browser(), flow, { method: 'code', email: person.email.toLowerCase() }))
    const next = await world.code(person.email)
    if (next === code) return
    world.see('first', await submit(world.browser(), flow, { method: 'code', code }))
  },
  'no address': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code' }))
  },
  'an empty address': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: '' }))
  },
  'something that is no address': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: 'ada' }))
  },
  'no method': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { email: newEmail().toLowerCase() }))
  },
  'an unknown method': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'telepathy', email: newEmail().toLowerCase() }))
  },
  'a link is not offered': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'link', email: newEmail().toLowerCase() }))
  },
}

const codes: Record<string, Scenario> = {
  'the right code verifies': async (world) => {
    const { person, flow, code } = await withCode(world)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code }))
    world.see('whoami', await person.client.ask('/sessions/whoami'))
    world.see('read', await world.browser().ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'the right code verifies in a single-page application': async (world) => {
    const { email } = await signUp(world)
    await world.code(email)
    const client = world.browser()
    const flow = await open(client, 'verification', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', email: email.toLowerCase() })
    world.see('answer', await submit(client, flow, { method: 'code', code: await world.code(email) }))
  },
  'the right code verifies on a page': async (world) => {
    const { email } = await signUp(world)
    await world.code(email)
    const client = world.browser()
    const flow = await openPage(client, 'verification')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    world.see('answer', await submitForm(client, flow, { method: 'code', code: await world.code(email) }))
    world.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'the code of signing up verifies': async (world) => {
    const { email, flow } = await signUp(world)
    const answer = await world.browser().ask(`/self-service/verification?flow=${flow}`, {
      json: { method: 'code', code: await world.code(email) },
    })
    world.see('answer', answer)
  },
  'a wrong code does not': async (world) => {
    const { flow, code } = await withCode(world)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code: wrong(code) }))
    world.see('right', await submit(world.browser(), flow, { method: 'code', code }))
  },
  'a wrong code on a page does not': async (world) => {
    const { email } = await signUp(world)
    await world.code(email)
    const client = world.browser()
    const flow = await openPage(client, 'verification')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    world.see('answer', await submitForm(client, flow, { method: 'code', code: wrong(await world.code(email)) }))
    world.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'letters are no code': async (world) => {
    const { flow } = await withCode(world)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code: 'abcdef' }))
  },
  'a code works once': async (world) => {
    const { flow, code } = await withCode(world)
    await submit(world.browser(), flow, { method: 'code', code })
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code }))
  },
  'a code works in its flow only': async (world) => {
    const { person, code } = await withCode(world)
    const other = await open(world.browser(), 'verification', 'api')
    await submit(world.browser(), other, { method: 'code', email: person.email.toLowerCase() })
    if ((await world.code(person.email)) === code) return
    world.see('answer', await submit(world.browser(), other, { method: 'code', code }))
  },
  'too many tries end the flow': async (world) => {
    const { flow, code } = await withCode(world)
    for (let i = 0; i < 5; i++) await submit(world.browser(), flow, { method: 'code', code: wrong(code) })
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code }))
  },
  'an expired code does not verify': async (world) => {
    const { flow, code } = await withCode(world)
    await world.clock.expireCodes('verification', flow.id)
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code }))
  },
}

const links: Record<string, Scenario> = {
  "the mail's link leads to the form and verifies nothing": async (world) => {
    const { person, flow } = await withCode(world)
    const flows = await submit(world.browser(), flow, { method: 'code', email: person.email.toLowerCase() })
    world.note('sent', flows.status)
    const link = await world.link(person.email)
    const answer = await world.browser().page(link)
    world.see('page', answer)
    world.see('json', await world.browser().ask(link))
    world.see('whoami', await person.client.ask('/sessions/whoami'))
  },
  'a link of nobody leads to the form': async ({ browser, see }) => {
    see('page', await browser().page(`/self-service/verification?flow=${nobody}&code=123456`))
    see('no flow', await browser().page('/self-service/verification?code=123456'))
  },
  'a flow opened by a link is completed in that browser': async (world) => {
    const { email } = await signUp(world)
    const client = world.browser()
    const opened = await client.page(await world.link(email))
    const flow = await read(client, 'verification', flowIdIn(opened.location))
    world.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
}

const expired: Record<string, Scenario> = {
  'by API': async (world) => {
    const flow = await open(world.browser(), 'verification', 'api')
    await world.clock.expireFlow('verification', flow.id)
    world.see('read', await world.browser().ask(`/self-service/verification/flows?id=${flow.id}`))
    world.see('answer', await submit(world.browser(), flow, { method: 'code', email: 'ada@example.com' }))
  },
  'in a browser': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'verification', 'browser', '?return_to=/after')
    await world.clock.expireFlow('verification', flow.id)
    world.see('read', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
    const answer = await submit(client, flow, { method: 'code', email: 'ada@example.com' })
    world.see('answer', answer)
    world.see('next', await client.ask(`/self-service/verification/flows?id=${answer.location?.split('id=')[1]}`))
  },
  'on a page': async (world) => {
    const client = world.browser()
    const flow = await openPage(client, 'verification')
    await world.clock.expireFlow('verification', flow.id)
    const answer = await submitForm(client, flow, { method: 'code', email: 'ada@example.com' })
    world.see('answer', answer)
    world.see('next', await client.ask(`/self-service/verification/flows?id=${flowIdIn(answer.location)}`))
  },
  'that does not exist': async ({ browser, see }) => {
    see('json', await browser().ask(`/self-service/verification?flow=${nobody}`, { json: { method: 'code' } }))
    see('page', await browser().page(`/self-service/verification?flow=${nobody}`, { form: { method: 'code' } }))
    see('read', await browser().ask(`/self-service/verification/flows?id=${nobody}`))
    see('none', await browser().ask('/self-service/verification', { json: { method: 'code' } }))
    see('nonsense', await browser().ask('/self-service/verification?flow=zz', { json: { method: 'code' } }))
  },
}

export const verification: Record<string, Scenario> = {
  ...form,
  ...sending,
  ...codes,
  ...links,
  ...Object.fromEntries(
    Object.entries(expired).map(([name, scenario]) => [`a flow that expired or never was, ${name}`, scenario]),
  ),
}
