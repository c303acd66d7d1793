import type { Answer } from '../../browser.ts'
import { type Done, type Flow, flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import {
  makeBrowserPerson,
  makePerson,
  makeSignedPerson,
  newEmail,
  nobody,
  type Person,
  password,
  signUp,
} from '../people.ts'
import type { Scenario, World } from '../world.ts'

const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

interface Sent {
  person: Person
  flow: Flow
  sent: Answer<Done>
  code: string
}

async function withCode(world: World, person: Person): Promise<Sent> {
  const flow = await open(world.browser(), 'recovery', 'api')
  const sent = await submit(world.browser(), flow, { method: 'code', email: person.email.toLowerCase() })
  return { person, flow, sent, code: await world.code(person.email) }
}

/** The same in a single-page application. */
async function withCodeInBrowser(world: World, person: Person, query = '') {
  const client = world.browser()
  const flow = await open(client, 'recovery', 'browser', query)
  const sent = await submit(client, flow, { method: 'code', email: person.email.toLowerCase() })
  return { client, flow, sent, code: await world.code(person.email) }
}

const form: Record<string, Scenario> = {
  'a flow of an API client': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/recovery/api'))
  },
  'a flow of a single-page application': async ({ browser, see }) => {
    see('answer', await browser().ask('/self-service/recovery/browser?return_to=/after'))
  },
  'a page is sent to the form with its flow': async ({ browser, see }) => {
    const client = browser()
    const answer = await client.page('/self-service/recovery/browser')
    see('answer', answer)
    see('flow', await client.ask(`/self-service/recovery/flows?id=${flowIdIn(answer.location)}`))
  },
  'a flow belongs to its browser': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'browser')
    see('answer', await browser().ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'who is signed in gets no flow': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('api', await client.ask('/self-service/recovery/api'))
    const { client: page } = await makeBrowserPerson(world)
    world.see('json', await page.ask('/self-service/recovery/browser'))
    world.see('page', await page.page('/self-service/recovery/browser'))
  },
}

const sending: Record<string, Scenario> = {
  'a code is sent': async (world) => {
    const { sent, flow } = await withCode(world, await makePerson(world))
    world.see('answer', sent)
    world.see('read', await world.browser().ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'a code is sent for a single-page application': async (world) => {
    const { sent } = await withCodeInBrowser(world, await makePerson(world))
    world.see('answer', sent)
  },
  'a code is sent for a page': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'recovery')
    world.see('answer', await submitForm(client, flow, { method: 'code', email: email.toLowerCase() }))
    world.see('flow', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'a stranger is answered alike': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: newEmail().toLowerCase() }))
  },
  'capitals of the address do not matter': async (world) => {
    const { email } = await makePerson(world)
    const flow = await open(world.browser(), 'recovery', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'code', email: email.toUpperCase() }))
    world.note('sent', (await world.code(email)).length)
  },
  'an address that is not verified recovers, too': async (world) => {
    const person = await signUp(world)
    await world.code(person.email)
    const { sent } = await withCode(world, person)
    world.see('answer', sent)
  },
  'another code makes the first worthless': async (world) => {
    const { person, flow, code } = await withCode(world, await makePerson(world))
    world.see('again', await submit(world.browser(), flow, { method: 'code', email: person.email.toLowerCase() }))
    if ((await world.code(person.email)) === code) return
    world.see('first', await submit(world.browser(), flow, { method: 'code', code }))
  },
}

const refusals = (change: Record<string, unknown>): Scenario => {
  return async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: 'ada@example.com', ...change }))
  }
}

const mistakes: Record<string, Scenario> = {
  'no address is refused': refusals({ email: undefined }),
  'an empty address is refused': refusals({ email: '' }),
  'something that is no address is refused': refusals({ email: 'ada' }),
  'no method is refused': refusals({ method: undefined }),
  'an unknown method is refused': refusals({ method: 'telepathy' }),
  'a code before one was sent is refused': refusals({ email: undefined, code: '123456' }),
}

const codes: Record<string, Scenario> = {
  'the right code by API': async (world) => {
    const { flow, code } = await withCode(world, await makePerson(world))
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code }))
  },
  'the right code leads a single-page application to the settings': async (world) => {
    const { client, flow, code } = await withCodeInBrowser(world, await makePerson(world), '?return_to=/after')
    const answer = await submit(client, flow, { method: 'code', code })
    world.see('answer', answer)
    world.see('whoami', await client.ask('/sessions/whoami'))
    const settings = flowIdIn(answer.json.redirect_browser_to)
    world.see('settings', await client.ask(`/self-service/settings/flows?id=${settings}`))
  },
  'the right code leads a page to the settings': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'recovery')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    world.see('answer', await submitForm(client, flow, { method: 'code', code: await world.code(email) }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'recovery verifies the address and leaves other sessions alone': async (world) => {
    const person = await signUp(world)
    await world.code(person.email)
    const { client, flow, code } = await withCodeInBrowser(world, person)
    await submit(client, flow, { method: 'code', code })
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('other', await person.client.ask('/sessions/whoami'))
  },
  'who recovered may set a password at once': async (world) => {
    const person = await makePerson(world)
    const { client, flow, code } = await withCodeInBrowser(world, person)
    const { json } = await submit(client, flow, { method: 'code', code })
    const { json: shown } = await client.ask<Flow>(
      `/self-service/settings/flows?id=${flowIdIn(json.redirect_browser_to)}`,
    )
    const settings: Flow = { ...shown, kind: 'settings' }
    world.see('answer', await submit(client, settings, { method: 'password', password: 'ten green Badgers 77' }))
    const login = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: person.email }
    const former = await submit(world.browser(), login, { ...fields, password })
    world.note('former', former.status)
    const next = await submit(world.browser(), login, { ...fields, password: 'ten green Badgers 77' })
    world.note('new', next.status)
  },
  'a wrong code does not recover': async (world) => {
    const { flow, code } = await withCode(world, await makePerson(world))
    world.see('answer', await submit(world.browser(), flow, { method: 'code', code: wrong(code) }))
  },
  'a wrong code on a page does not recover': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await openPage(client, 'recovery')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    world.see('answer', await submitForm(client, flow, { method: 'code', code: wrong(await world.code(email)) }))
    world.see('flow', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'a code works once': async (world) => {
    const { client, flow, code } = await withCodeInBrowser(world, await makePerson(world))
    await submit(client, flow, { method: 'code', code })
    client.cookies.delete('ory_kratos_session')
    world.see('answer', await submit(client, flow, { method: 'code', code }))
  },
  'too many tries end the flow': async (world) => {
    const { client, flow, code } = await withCodeInBrowser(world, await makePerson(world))
    for (let i = 0; i < 5; i++) await submit(client, flow, { method: 'code', code: wrong(code) })
    world.see('answer', await submit(client, flow, { method: 'code', code }))
  },
  'an expired code does not recover': async (world) => {
    const { client, flow, code } = await withCodeInBrowser(world, await makePerson(world))
    await world.clock.expireCodes('recovery', flow.id)
    const answer = await submit(client, flow, { method: 'code', code })
    world.see('answer', answer)
  },
  'a disabled person does not recover': async (world) => {
    const { client, flow, code } = await withCodeInBrowser(world, await makePerson(world, { state: 'inactive' }))
    world.see('answer', await submit(client, flow, { method: 'code', code }))
  },
}

const links: Record<string, Scenario> = {
  'a link is sent where it is asked for': async (world) => {
    const { email } = await makePerson(world)
    const client = world.browser()
    const flow = await open(client, 'recovery', 'browser')
    world.see('answer', await submit(client, flow, { method: 'link', email: email.toLowerCase() }))
    const opened = await world.browser()
    const link = await world.link(email)
    const answer = await opened.page(link)
    world.see('opened', answer)
    world.see('whoami', await opened.ask('/sessions/whoami'))
    const settings = flowIdIn(answer.location)
    world.see('settings', await opened.ask(`/self-service/settings/flows?id=${settings}`))
    const again = world.browser()
    const second = await again.page(link)
    world.see('a second time', second)
    world.see('next', await again.ask(`/self-service/recovery/flows?id=${flowIdIn(second.location)}`))
  },
  'a link to a stranger is answered alike': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'api')
    see('answer', await submit(browser(), flow, { method: 'link', email: newEmail().toLowerCase() }))
  },
  'a link of nobody leads to another flow': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'browser')
    see('page', await browser().page(`/self-service/recovery?flow=${flow.id}&token=${'x'.repeat(32)}`))
    see('no flow', await browser().page(`/self-service/recovery?token=${'x'.repeat(32)}`))
  },
}

const expired: Record<string, Scenario> = {
  'a flow that expired, by API': async (world) => {
    const flow = await open(world.browser(), 'recovery', 'api')
    await world.clock.expireFlow('recovery', flow.id)
    world.see('read', await world.browser().ask(`/self-service/recovery/flows?id=${flow.id}`))
    world.see('answer', await submit(world.browser(), flow, { method: 'code', email: 'ada@example.com' }))
  },
  'a flow that expired, in a browser': async (world) => {
    const client = world.browser()
    const flow = await open(client, 'recovery', 'browser', '?return_to=/after')
    await world.clock.expireFlow('recovery', flow.id)
    world.see('read', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
    const answer = await submit(client, flow, { method: 'code', email: 'ada@example.com' })
    world.see('answer', answer)
    world.see('next', await client.ask(`/self-service/recovery/flows?id=${answer.location?.split('id=')[1]}`))
  },
  'a flow that expired, on a page': async (world) => {
    const client = world.browser()
    const flow = await openPage(client, 'recovery')
    await world.clock.expireFlow('recovery', flow.id)
    world.see('answer', await submitForm(client, flow, { method: 'code', email: 'ada@example.com' }))
  },
  'a flow that does not exist': async ({ browser, see }) => {
    see('json', await browser().ask(`/self-service/recovery?flow=${nobody}`, { json: { method: 'code' } }))
    see('page', await browser().page(`/self-service/recovery?flow=${nobody}`, { form: { method: 'code' } }))
    see('read', await browser().ask(`/self-service/recovery/flows?id=${nobody}`))
    see('none', await browser().ask('/self-service/recovery', { json: { method: 'code' } }))
  },
}

interface Recovery {
  recovery_link: string
  recovery_code?: string
}

const byAdministrators: Record<string, Scenario> = {
  'an administrator hands out a code': async (world) => {
    const { id } = await makePerson(world)
    const made = await world.admin<Recovery>('/recovery/code', 'POST', { identity_id: id })
    world.see('made', made)
    const client = world.browser()
    const flowId = flowIdIn(made.json.recovery_link)
    const answer = await client.ask<Flow>(`/self-service/recovery/flows?id=${flowId}`)
    world.see('flow', answer)
    const fields = { method: 'code', code: made.json.recovery_code ?? '' }
    world.see('answer', await client.ask(`/self-service/recovery?flow=${flowId}`, { json: fields }))
    world.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a code may live for a shorter time': async (world) => {
    const { id } = await makePerson(world)
    world.see('answer', await world.admin('/recovery/code', 'POST', { identity_id: id, expires_in: '10m' }))
    world.see('nonsense', await world.admin('/recovery/code', 'POST', { identity_id: id, expires_in: 'soon' }))
  },
  'a code for nobody is refused': async ({ admin, see }) => {
    see('unknown', await admin('/recovery/code', 'POST', { identity_id: nobody }))
    see('nonsense', await admin('/recovery/code', 'POST', { identity_id: 'zz' }))
    see('missing', await admin('/recovery/code', 'POST', {}))
  },
  'an administrator hands out a link': async (world) => {
    const { id } = await makePerson(world)
    const made = await world.admin<Recovery>('/recovery/link', 'POST', { identity_id: id })
    world.see('made', made)
    const { pathname, search } = new URL(made.json.recovery_link)
    const path = `${pathname.replace('/kratos', '')}${search}`
    const client = world.browser()
    world.see('opened', await client.ask(path))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('a second time', await world.browser().ask(path))
  },
  'a link may name where to return to': async (world) => {
    const { id } = await makePerson(world)
    const made = await world.admin<Recovery>('/recovery/link?return_to=/after', 'POST', { identity_id: id })
    world.see('made', made)
    const { pathname, search } = new URL(made.json.recovery_link)
    const client = world.browser()
    const opened = await client.page(`${pathname.replace('/kratos', '')}${search}`)
    const settings = flowIdIn(opened.location)
    world.see('settings', await client.ask(`/self-service/settings/flows?id=${settings}`))
  },
  'a link for nobody is refused': async ({ admin, see }) => {
    see('unknown', await admin('/recovery/link', 'POST', { identity_id: nobody }))
    see('nonsense', await admin('/recovery/link', 'POST', { identity_id: 'zz' }))
    see('missing', await admin('/recovery/link', 'POST', {}))
  },
}

export const recovery: Record<string, Scenario> = {
  ...form,
  ...sending,
  ...mistakes,
  ...codes,
  ...links,
  ...expired,
  ...byAdministrators,
}
