import type { Flow } from '../flows.ts'
import { getFlow, open, openPage, submit, submitForm } from '../flows.ts'
import { oneTimePassword } from '../one-time-password.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeBrowserUser, makeSignedInUser, makeUser, password, type SignedInUser } from '../users.ts'

/** The secret of a settings flow, for an authenticator app. */
function secretIn(flow: Flow): string {
  const text = textIn(flow, 'totp_secret_key')
  return text.context?.secret ?? ''
}

/** The backup codes of a settings flow. */
function lookupCodesIn(flow: Flow): string[] {
  return (textIn(flow, 'lookup_secret_codes').context?.secrets ?? []).map(({ context }) => context.secret)
}

interface SecretText {
  context?: { secret?: string; secrets?: { context: { secret: string } }[] }
}

function textIn(flow: Flow, id: string): SecretText {
  const found = flow.ui.nodes.find(({ attributes }) => 'id' in attributes && attributes.id === id)
  if (!found || !('text' in found.attributes)) throw new Error(`no ${id} in the flow`)
  return found.attributes.text as SecretText
}

async function enrolTotp<P extends Pick<SignedInUser, 'client'>>(user: P, type: 'api' | 'browser' = 'api') {
  const flow = await open(user.client, 'settings', type)
  const secret = secretIn(flow)
  const done = await submit(user.client, flow, { method: 'totp', totp_code: oneTimePassword(secret) })
  return { ...user, secret, flow, done }
}

async function withTotp(testEnvironment: TestEnvironment) {
  return enrolTotp(await makeSignedInUser(testEnvironment))
}

async function withLookup(testEnvironment: TestEnvironment) {
  const user = await makeSignedInUser(testEnvironment)
  const flow = await open(user.client, 'settings', 'api')
  const shown = await submit(user.client, flow, { method: 'lookup_secret', lookup_secret_regenerate: true })
  const secrets = lookupCodesIn(getFlow(shown, 'settings'))
  const done = await submit(user.client, flow, { method: 'lookup_secret', lookup_secret_confirm: true })
  return { ...user, flow, secrets, shown, done }
}

/** The code after the one that enrolled, which counts as used because the service accepts each code once. */
const nextCode = (secret: string) => oneTimePassword(secret, 1)

/** Signs in with the password alone. */
async function passwordLogin(testEnvironment: TestEnvironment, email: string) {
  const flow = await open(testEnvironment.browser(), 'login', 'api')
  const { json } = await submit(testEnvironment.browser(), flow, { method: 'password', identifier: email, password })
  return testEnvironment.browser({ 'x-session-token': json.session_token ?? '' })
}

const toWrongCode = (code: string) => (code === '000000' ? '000001' : '000000')

const totp: Record<string, Scenario> = {
  'an authenticator app is enrolled by API': async (testEnvironment) => {
    const { done, client } = await withTotp(testEnvironment)
    testEnvironment.see('answer', done)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('settings', await client.ask('/self-service/settings/api'))
  },
  'an authenticator app is enrolled in a single-page application': async (testEnvironment) => {
    const { done } = await enrolTotp(await makeBrowserUser(testEnvironment), 'browser')
    testEnvironment.see('answer', done)
  },
  'an authenticator app is enrolled on a page': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    const code = oneTimePassword(secretIn(flow))
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'totp', totp_code: code }))
  },
  'a wrong code does not enrol and keeps the secret': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    const secret = secretIn(flow)
    const fields = { method: 'totp', totp_code: toWrongCode(oneTimePassword(secret)) }
    const answer = await submit(client, flow, fields)
    testEnvironment.see('answer', answer)
    testEnvironment.note('the same secret', secretIn(getFlow(answer, 'settings')) === secret)
  },
  'a submit without a code does not enrol': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'totp' }))
  },
  'an old session does not enrol': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.ageSession(session.id)
    const code = oneTimePassword(secretIn(flow))
    testEnvironment.see('answer', await submit(client, flow, { method: 'totp', totp_code: code }))
  },
  'an app is unlinked': async (testEnvironment) => {
    const { client } = await withTotp(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'totp', totp_unlink: true }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see(
      'again',
      await submit(client, await open(client, 'settings', 'api'), { method: 'totp', totp_unlink: true }),
    )
  },
  'an administrator deletes the authenticator app': async (testEnvironment) => {
    const { id } = await withTotp(testEnvironment)
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}/credentials/totp`, 'DELETE'))
    testEnvironment.see('again', await testEnvironment.admin(`/identities/${id}/credentials/totp`, 'DELETE'))
  },
  'an API client has to submit the code after the password': async (testEnvironment) => {
    const { email, secret } = await withTotp(testEnvironment)
    const login = await open(testEnvironment.browser(), 'login', 'api')
    const done = await submit(testEnvironment.browser(), login, { method: 'password', identifier: email, password })
    testEnvironment.see('password', done)
    const client = testEnvironment.browser({ 'x-session-token': done.json.session_token ?? '' })
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    const init = await client.ask('/self-service/login/api?aal=aal2')
    testEnvironment.see('init', init)
    const flow = getFlow(init, 'login')
    testEnvironment.see(
      'wrong',
      await submit(client, flow, { method: 'totp', totp_code: toWrongCode(oneTimePassword(secret)) }),
    )
    const answer = await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) })
    testEnvironment.see('answer', answer)
    testEnvironment.note('the same session', answer.json.session?.id === done.json.session?.id)
    testEnvironment.see('whoami then', await client.ask('/sessions/whoami'))
  },
  'a single-page application has to submit the code after the password': async (testEnvironment) => {
    const { email, secret } = await withTotp(testEnvironment)
    const client = testEnvironment.browser()
    const login = await open(client, 'login', 'browser', '?return_to=/after')
    const fields = { method: 'password', identifier: email, password }
    testEnvironment.see('password', await submit(client, login, fields))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    const init = await client.ask('/self-service/login/browser?aal=aal2')
    testEnvironment.see('init', init)
    const flow = getFlow(init, 'login')
    testEnvironment.see('answer', await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) }))
  },
  'a page has to submit the code after the password': async (testEnvironment) => {
    const { email, secret } = await withTotp(testEnvironment)
    const client = testEnvironment.browser()
    const login = await openPage(client, 'login', '?return_to=/after')
    testEnvironment.see(
      'password',
      await submitForm(client, login, { method: 'password', identifier: email, password }),
    )
    const flow = await openPage(client, 'login', '?aal=aal2&return_to=/after')
    const code = toWrongCode(oneTimePassword(secret))
    testEnvironment.see('wrong', await submitForm(client, flow, { method: 'totp', totp_code: code }))
    testEnvironment.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
    testEnvironment.see('answer', await submitForm(client, flow, { method: 'totp', totp_code: nextCode(secret) }))
  },
  'a session without the second factor has few rights': async (testEnvironment) => {
    const { email } = await withTotp(testEnvironment)
    const client = await passwordLogin(testEnvironment, email)
    testEnvironment.see('settings', await client.ask('/self-service/settings/api'))
    testEnvironment.see('sessions', await client.ask('/sessions'))
    testEnvironment.see('end others', await client.ask('/sessions', { method: 'DELETE' }))
    testEnvironment.see('login', await client.ask('/self-service/login/api'))
    testEnvironment.see('registration', await client.ask('/self-service/registration/api'))
  },
  'a browser without the second factor is redirected to it': async (testEnvironment) => {
    const { email } = await withTotp(testEnvironment)
    const client = testEnvironment.browser()
    const login = await open(client, 'login', 'browser')
    await submit(client, login, { method: 'password', identifier: email, password })
    testEnvironment.see('settings', await client.ask('/self-service/settings/browser'))
    testEnvironment.see('settings page', await client.page('/self-service/settings/browser'))
    testEnvironment.see('login', await client.ask('/self-service/login/browser'))
    testEnvironment.see('login page', await client.page('/self-service/login/browser'))
    testEnvironment.see('logout', await client.ask('/self-service/logout/browser'))
  },
  'no further factor is requested after the code': async (testEnvironment) => {
    const { client } = await withTotp(testEnvironment)
    testEnvironment.see('answer', await client.ask('/self-service/login/api?aal=aal2'))
    testEnvironment.see('refresh', await client.ask('/self-service/login/api?aal=aal2&refresh=true'))
  },
  'a refresh requires the code again': async (testEnvironment) => {
    const { client, secret, session } = await withTotp(testEnvironment)
    const flow = await open(client, 'login', 'api', '?aal=aal2&refresh=true')
    const done = await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) })
    testEnvironment.see('answer', done)
    testEnvironment.note('the same session', done.json.session?.id === session.id)
  },
  'the second step cannot be completed without an authenticator app': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'login', 'api', '?aal=aal2')
    testEnvironment.see('init', await client.ask('/self-service/login/api?aal=aal2'))
    testEnvironment.see('totp', await submit(client, flow, { method: 'totp', totp_code: '123456' }))
    testEnvironment.see('lookup', await submit(client, flow, { method: 'lookup_secret', lookup_secret: 'abcdefgh' }))
    testEnvironment.see(
      'password',
      await submit(client, flow, { method: 'password', identifier: 'a@example.com', password }),
    )
  },
  'the second step cannot be completed in a browser without an authenticator app': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await client.ask('/self-service/login/browser?aal=aal2'))
  },
  'a code without a session does not sign in': async (testEnvironment) => {
    await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { method: 'totp', totp_code: '123456' }),
    )
  },
  'a user who recovers still needs the code': async (testEnvironment) => {
    const { email } = await withTotp(testEnvironment)
    const client = testEnvironment.browser()
    const flow = await open(client, 'recovery', 'browser')
    await submit(client, flow, { method: 'code', email: email.toLowerCase() })
    const done = await submit(client, flow, { method: 'code', code: await testEnvironment.code(email) })
    testEnvironment.see('answer', done)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    const id = new URL(done.json.redirect_browser_to ?? '', 'http://localhost').searchParams.get('flow')
    testEnvironment.see('settings', await client.ask(`/self-service/settings/flows?id=${id}`))
  },
}

const lookup: Record<string, Scenario> = {
  'codes are shown, confirmed and kept': async (testEnvironment) => {
    const { shown, secrets, done, client } = await withLookup(testEnvironment)
    testEnvironment.see('shown', shown)
    testEnvironment.note('codes', [secrets.length, secrets.every((secret) => /^[a-z0-9]{8}$/.test(secret))])
    testEnvironment.see('answer', done)
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('settings', await client.ask('/self-service/settings/api'))
  },
  'codes are shown and confirmed in a single-page application': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await open(client, 'settings', 'browser')
    const regenerate = { method: 'lookup_secret', lookup_secret_regenerate: true }
    testEnvironment.see('shown', await submit(client, flow, regenerate))
    testEnvironment.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_confirm: true }))
  },
  'codes are shown on a page': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const flow = await openPage(client, 'settings')
    const regenerate = { method: 'lookup_secret', lookup_secret_regenerate: 'true' }
    testEnvironment.see('answer', await submitForm(client, flow, regenerate))
    testEnvironment.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
  'codes cannot be confirmed before they were shown': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_confirm: true }))
  },
  'an old session gets no codes': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    await testEnvironment.clock.ageSession(session.id)
    testEnvironment.see(
      'answer',
      await submit(client, flow, { method: 'lookup_secret', lookup_secret_regenerate: true }),
    )
  },
  'codes are revealed again': async (testEnvironment) => {
    const { client, secrets } = await withLookup(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    const answer = await submit(client, flow, { method: 'lookup_secret', lookup_secret_reveal: true })
    testEnvironment.see('answer', answer)
    testEnvironment.note(
      'the same',
      lookupCodesIn(getFlow(answer, 'settings')).every((code, i) => code === secrets[i]),
    )
  },
  'codes are deleted': async (testEnvironment) => {
    const { client } = await withLookup(testEnvironment)
    const flow = await open(client, 'settings', 'api')
    testEnvironment.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_disable: true }))
    testEnvironment.see('settings', await client.ask('/self-service/settings/api'))
  },
  'a code works once': async (testEnvironment) => {
    const { email, secrets } = await withLookup(testEnvironment)
    const client = await passwordLogin(testEnvironment, email)
    const init = await client.ask('/self-service/login/api?aal=aal2')
    testEnvironment.see('init', init)
    const fields = { method: 'lookup_secret', lookup_secret: secrets[0] }
    testEnvironment.see('answer', await submit(client, getFlow(init, 'login'), fields))
    const next = await passwordLogin(testEnvironment, email)
    const again = await open(next, 'login', 'api', '?aal=aal2')
    testEnvironment.see('again', await submit(next, again, fields))
    testEnvironment.see('wrong', await submit(next, again, { ...fields, lookup_secret: 'zzzzzzz0' }))
    testEnvironment.see('empty', await submit(next, again, { ...fields, lookup_secret: '' }))
    const settings = await open(client, 'settings', 'api')
    testEnvironment.see(
      'revealed',
      await submit(client, settings, { method: 'lookup_secret', lookup_secret_reveal: true }),
    )
  },
  'an administrator deletes the codes': async (testEnvironment) => {
    const { id } = await withLookup(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}/credentials/lookup_secret`, 'DELETE'))
    testEnvironment.see('identity', await testEnvironment.admin(`/identities/${id}`))
  },
  'a user with an authenticator app and codes may use either': async (testEnvironment) => {
    const { client, email } = await withLookup(testEnvironment)
    await enrolTotp({ client })
    const other = await passwordLogin(testEnvironment, email)
    testEnvironment.see('answer', await other.ask('/self-service/login/api?aal=aal2'))
  },
}

export const factors: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(totp).map(([name, scenario]) => [`totp: ${name}`, scenario])),
  ...Object.fromEntries(Object.entries(lookup).map(([name, scenario]) => [`lookup: ${name}`, scenario])),
}
