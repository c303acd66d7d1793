import { flowIdIn, nextFlow, open, openPage, read, submit, submitForm } from '../flows.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeUser, newEmail, nobody, password, signUp } from '../users.ts'

/** Another code than the one that was sent. */
const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

/** A user with an unverified address and an API flow that has just sent the code. */
async function withCode(testEnvironment: TestEnvironment) {
  const user = await signUp(testEnvironment)
  await testEnvironment.code(user.email)
  const flow = await open(testEnvironment.browser(), 'verification', 'api')
  const sent = await submit(testEnvironment.browser(), flow, { method: 'code', email: user.email.toLowerCase() })
  return { user, flow, sent, code: await testEnvironment.code(user.email) }
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
  'the flow that a sign-up started expects the code': async (testEnvironment) => {
    const { flow } = await signUp(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.browser().ask(`/self-service/verification/flows?id=${flow}`))
  },
  'the flow that a sign-up in a browser started belongs to that browser': async ({ browser, see }) => {
    const client = browser()
    const registration = await open(client, 'registration', 'browser')
    const fields = { method: 'password', password, traits: { email: newEmail() } }
    const { json } = await submit(client, registration, fields)
    const id = nextFlow(json, 'show_verification_ui')
    see('answer', await client.ask(`/self-service/verification/flows?id=${id}`))
    see('elsewhere', await browser().ask(`/self-service/verification/flows?id=${id}`))
  },
  'a signed-in user may verify an address too': async (testEnvironment) => {
    const { client } = await signUp(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/verification/api'))
  },
}

const sending: Record<string, Scenario> = {
  'a code is sent': async (testEnvironment) => {
    const { sent } = await withCode(testEnvironment)
    testEnvironment.see('answer', sent)
  },
  'a code is sent for a single-page application': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'verification', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { method: 'code', email: email.toLowerCase() }))
  },
  'a code is sent for a page': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'verification')
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'code', email: email.toLowerCase() }))
    testEnvironment.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'an unknown address gets the same answer': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: newEmail().toLowerCase() }))
  },
  'a verified address may be verified again': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'verification', 'api')
    testEnvironment.see(
      'sent',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: email.toLowerCase() }),
    )
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', code: await testEnvironment.code(email) }),
    )
  },
  'a second code invalidates the first one': async (testEnvironment) => {
    const { user, flow, code } = await withCode(testEnvironment)
    testEnvironment.see(
      'again',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: user.email.toLowerCase() }),
    )
    const next = await testEnvironment.code(user.email)
    if (next === code) return
    testEnvironment.see('first', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
  'a missing address is refused': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code' }))
  },
  'an empty address is refused': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: '' }))
  },
  'a malformed address is refused': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'code', email: 'ada' }))
  },
  'a missing method is refused': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { email: newEmail().toLowerCase() }))
  },
  'an unknown method is refused': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'telepathy', email: newEmail().toLowerCase() }))
  },
  'a link cannot be requested': async ({ browser, see }) => {
    const flow = await open(browser(), 'verification', 'api')
    see('answer', await submit(browser(), flow, { method: 'link', email: newEmail().toLowerCase() }))
  },
}

const codes: Record<string, Scenario> = {
  'the right code verifies': async (testEnvironment) => {
    const { user, flow, code } = await withCode(testEnvironment)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
    testEnvironment.see('whoami', await user.client.ask('/sessions/whoami'))
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'the right code verifies in a single-page application': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    await testEnvironment.code(email)
    const client = testEnvironment.browser()
    const flow = await open(client, 'verification', 'browser', '?return_to=/after')
    await submit(client, flow, { method: 'code', email: email.toLowerCase() })
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'code', code: await testEnvironment.code(email) }),
    )
  },
  'the right code verifies on a page': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    await testEnvironment.code(email)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'verification')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { method: 'code', code: await testEnvironment.code(email) }),
    )
    testEnvironment.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'the code of signing up verifies': async (testEnvironment) => {
    const { email, flow } = await signUp(testEnvironment)
    const answer = await testEnvironment.browser().ask(`/self-service/verification?flow=${flow}`, {
      json: { method: 'code', code: await testEnvironment.code(email) },
    })
    testEnvironment.see('answer', answer)
  },
  'a wrong code does not verify': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code: wrong(code) }))
    testEnvironment.see('right', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
  'a wrong code on a page does not verify': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    await testEnvironment.code(email)
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'verification')
    await submitForm(client, flow, { method: 'code', email: email.toLowerCase() })
    testEnvironment.see(
      'answer',
      await submitForm(client, flow, { method: 'code', code: wrong(await testEnvironment.code(email)) }),
    )
    testEnvironment.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
  'a code of letters does not verify': async (testEnvironment) => {
    const { flow } = await withCode(testEnvironment)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code: 'abcdef' }))
  },
  'a code works once': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment)
    await submit(testEnvironment.browser(), flow, { method: 'code', code })
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
  'a code works only in its flow': async (testEnvironment) => {
    const { user, code } = await withCode(testEnvironment)
    const other = await open(testEnvironment.browser(), 'verification', 'api')
    await submit(testEnvironment.browser(), other, { method: 'code', email: user.email.toLowerCase() })
    if ((await testEnvironment.code(user.email)) === code) return
    testEnvironment.see('answer', await submit(testEnvironment.browser(), other, { method: 'code', code }))
  },
  'too many wrong codes end the flow': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment)
    for (let i = 0; i < 5; i++) await submit(testEnvironment.browser(), flow, { method: 'code', code: wrong(code) })
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
  'an expired code does not verify': async (testEnvironment) => {
    const { flow, code } = await withCode(testEnvironment)
    await testEnvironment.clock.expireCodes('verification', flow.id)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, { method: 'code', code }))
  },
}

const links: Record<string, Scenario> = {
  'the link of the mail redirects to the form and verifies nothing': async (testEnvironment) => {
    const { user, flow } = await withCode(testEnvironment)
    const flows = await submit(testEnvironment.browser(), flow, { method: 'code', email: user.email.toLowerCase() })
    testEnvironment.note('sent', flows.status)
    const link = await testEnvironment.link(user.email)
    const answer = await testEnvironment.browser().page(link)
    testEnvironment.see('page', answer)
    testEnvironment.see('json', await testEnvironment.browser().ask(link))
    testEnvironment.see('whoami', await user.client.ask('/sessions/whoami'))
  },
  'an unknown link redirects to the form': async ({ browser, see }) => {
    see('page', await browser().page(`/self-service/verification?flow=${nobody}&code=123456`))
    see('no flow', await browser().page('/self-service/verification?code=123456'))
  },
  'a flow that was opened by a link is completed in that browser': async (testEnvironment) => {
    const { email } = await signUp(testEnvironment)
    const client = testEnvironment.browser()
    const opened = await client.page(await testEnvironment.link(email))
    const flow = await read(client, 'verification', flowIdIn(opened.location))
    testEnvironment.see('flow', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
  },
}

const expired: Record<string, Scenario> = {
  'by API': async (testEnvironment) => {
    const flow = await open(testEnvironment.browser(), 'verification', 'api')
    await testEnvironment.clock.expireFlow('verification', flow.id)
    testEnvironment.see('read', await testEnvironment.browser().ask(`/self-service/verification/flows?id=${flow.id}`))
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'code', email: 'ada@example.com' }),
    )
  },
  'in a browser': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'verification', 'browser', '?return_to=/after')
    await testEnvironment.clock.expireFlow('verification', flow.id)
    testEnvironment.see('read', await client.ask(`/self-service/verification/flows?id=${flow.id}`))
    const answer = await submit(client, flow, { method: 'code', email: 'ada@example.com' })
    testEnvironment.see('answer', answer)
    testEnvironment.see(
      'next',
      await client.ask(`/self-service/verification/flows?id=${answer.location?.split('id=')[1]}`),
    )
  },
  'on a page': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await openPage(client, 'verification')
    await testEnvironment.clock.expireFlow('verification', flow.id)
    const answer = await submitForm(client, flow, { method: 'code', email: 'ada@example.com' })
    testEnvironment.see('answer', answer)
    testEnvironment.see('next', await client.ask(`/self-service/verification/flows?id=${flowIdIn(answer.location)}`))
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
    Object.entries(expired).map(([name, scenario]) => [`an expired or unknown flow, ${name}`, scenario]),
  ),
}
