import type { Answer } from '../../browser.ts'
import { type Done, type Flow, flowIdIn, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeBrowserUser, makeSignedInUser, makeUser, newEmail, nobody, password, signUp, type User } from '../users.ts'

const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

interface Sent {
  user: User
  flow: Flow
  sent: Answer<Done>
  code: string
}

async function withCode(testEnvironment: TestEnvironment, user: User): Promise<Sent> {
  const flow = await open(testEnvironment.browser(), 'recovery', 'api')
  const sent = await submit(testEnvironment.browser(), flow, { method: 'code', email: user.email.toLowerCase() })
  return { user, flow, sent, code: await testEnvironment.code(user.email) }
}

/** The same in a single-page application. */
async function withCodeInBrowser(testEnvironment: TestEnvironment, user: User, query = '') {
  const client = testEnvironment.browser()
  const flow = await open(client, 'recovery', 'browser', query)
  const sent = await submit(client, flow, { method: 'code', email: user.email.toLowerCase() })
  return { client, flow, sent, code: await testEnvironment.code(user.email) }
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
  'a signed-in user gets no flow': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('api', await client.ask('/self-service/recovery/api'))
    const { client: page } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await page.ask('/self-service/recovery/browser'))
    testEnvironment.see('page', await page.page('/self-service/recovery/browser'))
  },
}

const sending: Record<string, Scenario> = {
  'a code is sent': async (testEnvironment) => {
    const { sent, flow } = await withCode(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', sent)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'a code is sent for a single-page application': async (testEnvironment) => {
    const { sent } = await withCodeInBrowser(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', sent)
  },
  'a code is sent for a page': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'recovery')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', email: email.toLowerCase() }))
    testEnvironment.see('flow', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'an unknown address gets the same answer': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: newEmail().toLowerCase() }))
  },
  'capitals of the address do not matter': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'recovery', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: email.toUpperCase() }),
    )
    testEnvironment.note('sent', (await testEnvironment.code(email)).length)
  },
  'an unverified address recovers the account too': async (testEnvironment) => {
    const user = await signUp(testEnvironment)
    await testEnvironment.code(user.email)
    const { sent } = await withCode(testEnvironment, user)
    testEnvironment.see('answer', sent)
  },
  'a second code invalidates the first one': async (testEnvironment) => {
    const { user, flow, code } = await withCode(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see(
      'again',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: user.email.toLowerCase() }),
    )
    if ((await testEnvironment.code(user.email)) === code) return
    testEnvironment.see('first', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
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
  'the right code recovers the account by API': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
  'the right code leads a single-page application to the settings': async (testEnvironment) => {
    const { client, flow, code } = await withCodeInBrowser(
      testEnvironment,
      await makeUser(testEnvironment),
      '?return_to=/after',
    )
    const answer = await submit(client, flow, { method: 'code', code })
    testEnvironment.see('answer', answer)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    const settings = flowIdIn(answer.json.redirect_browser_to)
    testEnvironment.see('settings', await client.ask(`/self-service/settings/flows?id=${settings}`))
  },
  'the right code leads a page to the settings': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'recovery')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { method: 'code', code: await testEnvironment.code(email) }),
    )
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'recovery verifies the address and leaves other sessions alone': async (testEnvironment) => {
    const user = await signUp(testEnvironment)
    await testEnvironment.code(user.email)
    const { client, flow, code } = await withCodeInBrowser(testEnvironment, user)
    await submit(client, flow, { method: 'code', code })
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('other', await user.client.ask('/sessions/whoami'))
  },
  'a user who recovered the account may set a password at once': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const { client, flow, code } = await withCodeInBrowser(testEnvironment, user)
    const { json } = await submit(client, flow, { method: 'code', code })
    const { json: shown } = await client.ask<Flow>(
      `/self-service/settings/flows?id=${flowIdIn(json.redirect_browser_to)}`,
    )
    const settings: Flow = { ...shown, kind: 'settings' }
    testEnvironment.see(
      'answer',
      await submit(client, settings, { method: 'password', password: 'ten green Badgers 77' }),
    )
    const login = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: user.email }
    const former = await submit(testEnvironment.browser(), login, { ...fields, password })
    testEnvironment.note('former', former.status)
    const next = await submit(testEnvironment.browser(), login, { ...fields, password: 'ten green Badgers 77' })
    testEnvironment.note('new', next.status)
  },
  'a wrong code does not recover': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code: wrong(code) }))
  },
  'a wrong code on a page does not recover': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'recovery')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { method: 'code', code: wrong(await testEnvironment.code(email)) }),
    )
    testEnvironment.see('flow', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
  },
  'a code works once': async (testEnvironment) => {
    const { client, flow, code } = await withCodeInBrowser(testEnvironment, await makeUser(testEnvironment))
    await submit(client, flow, { method: 'code', code })
    client.cookies.delete('ory_kratos_session')
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', code }))
  },
  'too many wrong codes end the flow': async (testEnvironment) => {
    const { client, flow, code } = await withCodeInBrowser(testEnvironment, await makeUser(testEnvironment))
    for (let i = 0; i < 5; i++) await submit(client, flow, { method: 'code', code: wrong(code) })
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', code }))
  },
  'an expired code does not recover': async (testEnvironment) => {
    const { client, flow, code } = await withCodeInBrowser(testEnvironment, await makeUser(testEnvironment))
    await testEnvironment.clock.expireCodes('recovery', flow.id)
    const answer = await submit(client, flow, { method: 'code', code })
    testEnvironment.see('answer', answer)
  },
  'a disabled user does not recover': async (testEnvironment) => {
    const { client, flow, code } = await withCodeInBrowser(
      testEnvironment,
      await makeUser(testEnvironment, { state: 'inactive' }),
    )
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', code }))
  },
}

const links: Record<string, Scenario> = {
  'a link is sent on request': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'recovery', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { method: 'link', email: email.toLowerCase() }))
    const opened = await testEnvironment.browser()
    const link = await testEnvironment.link(email)
    const answer = await opened.page(link)
    testEnvironment.see('opened', answer)
    testEnvironment.see('whoami', await opened.ask('/sessions/whoami'))
    const settings = flowIdIn(answer.location)
    testEnvironment.see('settings', await opened.ask(`/self-service/settings/flows?id=${settings}`))
    const again = testEnvironment.browser()
    const second = await again.page(link)
    testEnvironment.see('a second time', second)
    testEnvironment.see('next', await again.ask(`/self-service/recovery/flows?id=${flowIdIn(second.location)}`))
  },
  'a link to an unknown address gets the same answer': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'api')
    see('answer', await submit(browser(), flow, { method: 'link', email: newEmail().toLowerCase() }))
  },
  'an unknown link redirects to a new flow': async ({ browser, see }) => {
    const flow = await open(browser(), 'recovery', 'browser')
    see('page', await browser().page(`/self-service/recovery?flow=${flow.id}&token=${'x'.repeat(32)}`))
    see('no flow', await browser().page(`/self-service/recovery?token=${'x'.repeat(32)}`))
  },
}

const expired: Record<string, Scenario> = {
  'a flow that expired, by API': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'recovery', 'api')
    await testEnvironment.clock.expireFlow('recovery', flow.id)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/recovery/flows?id=${flow.id}`))
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: 'ada@example.com' }),
    )
  },
  'a flow that expired, in a browser': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'recovery', 'browser', '?return_to=/after')
    await testEnvironment.clock.expireFlow('recovery', flow.id)
    testEnvironment.see('read', await client.ask(`/self-service/recovery/flows?id=${flow.id}`))
    const answer = await submit(client, flow, { method: 'code', email: 'ada@example.com' })
    testEnvironment.see('answer', answer)
    testEnvironment.see('next', await client.ask(`/self-service/recovery/flows?id=${answer.location?.split('id=')[1]}`))
  },
  'a flow that expired, on a page': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'recovery')
    await testEnvironment.clock.expireFlow('recovery', flow.id)
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', email: 'ada@example.com' }))
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
  'an administrator creates a code': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const made = await testEnvironment.admin<Recovery>('/recovery/code', 'POST', { identity_id: id })
    testEnvironment.see('made', made)
    const client = testEnvironment.browser()
    const flowId = flowIdIn(made.json.recovery_link)
    const answer = await client.ask<Flow>(`/self-service/recovery/flows?id=${flowId}`)
    testEnvironment.see('flow', answer)
    const fields = { method: 'code', code: made.json.recovery_code ?? '' }
    testEnvironment.see('answer', await client.ask(`/self-service/recovery?flow=${flowId}`, { json: fields }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
  },
  'a code may have a shorter lifespan': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    testEnvironment.see(
      'answer',
      await testEnvironment.admin('/recovery/code', 'POST', { identity_id: id, expires_in: '10m' }),
    )
    testEnvironment.see(
      'nonsense',
      await testEnvironment.admin('/recovery/code', 'POST', { identity_id: id, expires_in: 'soon' }),
    )
  },
  'a code for an unknown identity is refused': async ({ admin, see }) => {
    see('unknown', await admin('/recovery/code', 'POST', { identity_id: nobody }))
    see('nonsense', await admin('/recovery/code', 'POST', { identity_id: 'zz' }))
    see('missing', await admin('/recovery/code', 'POST', {}))
  },
  'an administrator creates a link': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const made = await testEnvironment.admin<Recovery>('/recovery/link', 'POST', { identity_id: id })
    testEnvironment.see('made', made)
    const { pathname, search } = new URL(made.json.recovery_link)
    const path = `${pathname.replace('/kratos', '')}${search}`
    const client = testEnvironment.browser()
    testEnvironment.see('opened', await client.ask(path))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('a second time', await testEnvironment.browser().ask(path))
  },
  'a link may contain the address to return to': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const made = await testEnvironment.admin<Recovery>('/recovery/link?return_to=/after', 'POST', { identity_id: id })
    testEnvironment.see('made', made)
    const { pathname, search } = new URL(made.json.recovery_link)
    const client = testEnvironment.browser()
    const opened = await client.page(`${pathname.replace('/kratos', '')}${search}`)
    const settings = flowIdIn(opened.location)
    testEnvironment.see('settings', await client.ask(`/self-service/settings/flows?id=${settings}`))
  },
  'a link for an unknown identity is refused': async ({ admin, see }) => {
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
