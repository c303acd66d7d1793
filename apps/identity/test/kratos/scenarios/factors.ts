import type { Flow } from '../flows.ts'
import { flowOf, open, openPage, submit, submitForm } from '../flows.ts'
import { oneTimePassword } from '../one-time-password.ts'
import { makeBrowserPerson, makePerson, makeSignedPerson, password, type SignedPerson } from '../people.ts'
import type { Scenario, World } from '../world.ts'

/** The secret of a settings flow, for an authenticator app. */
function secretIn(flow: Flow): string {
  const text = textIn(flow, 'totp_secret_key')
  return text.context?.secret ?? ''
}

/** The codes of a settings flow, to keep for the day the phone is lost. */
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

async function enrolTotp<P extends Pick<SignedPerson, 'client'>>(person: P, type: 'api' | 'browser' = 'api') {
  const flow = await open(person.client, 'settings', type)
  const secret = secretIn(flow)
  const done = await submit(person.client, flow, { method: 'totp', totp_code: oneTimePassword(secret) })
  return { ...person, secret, flow, done }
}

async function withTotp(world: World) {
  return enrolTotp(await makeSignedPerson(world))
}

async function withLookup(world: World) {
  const person = await makeSignedPerson(world)
  const flow = await open(person.client, 'settings', 'api')
  const shown = await submit(person.client, flow, { method: 'lookup_secret', lookup_secret_regenerate: true })
  const secrets = lookupCodesIn(flowOf(shown, 'settings'))
  const done = await submit(person.client, flow, { method: 'lookup_secret', lookup_secret_confirm: true })
  return { ...person, flow, secrets, shown, done }
}

/** The code after the one that enrolled, which counts already: ours takes each code once. */
const nextCode = (secret: string) => oneTimePassword(secret, 1)

/** Signs in with the password alone. */
async function passwordLogin(world: World, email: string) {
  const flow = await open(world.browser(), 'login', 'api')
  const { json } = await submit(world.browser(), flow, { method: 'password', identifier: email, password })
  return world.browser({ 'x-session-token': json.session_token ?? '' })
}

const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000')

const totp: Record<string, Scenario> = {
  'an authenticator app is enrolled by API': async (world) => {
    const { done, client } = await withTotp(world)
    world.see('answer', done)
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('settings', await client.ask('/self-service/settings/api'))
  },
  'an authenticator app is enrolled in a single-page application': async (world) => {
    const { done } = await enrolTotp(await makeBrowserPerson(world), 'browser')
    world.see('answer', done)
  },
  'an authenticator app is enrolled on a page': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    const code = oneTimePassword(secretIn(flow))
    world.see('answer', await submitForm(client, flow, { method: 'totp', totp_code: code }))
  },
  'a wrong code does not enrol and keeps the secret': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    const secret = secretIn(flow)
    const fields = { method: 'totp', totp_code: wrongOf(oneTimePassword(secret)) }
    const answer = await submit(client, flow, fields)
    world.see('answer', answer)
    world.note('the same secret', secretIn(flowOf(answer, 'settings')) === secret)
  },
  'no code does not enrol': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'totp' }))
  },
  'an old session does not enrol': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.ageSession(session.id)
    const code = oneTimePassword(secretIn(flow))
    world.see('answer', await submit(client, flow, { method: 'totp', totp_code: code }))
  },
  'an app is unlinked': async (world) => {
    const { client } = await withTotp(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'totp', totp_unlink: true }))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see(
      'again',
      await submit(client, await open(client, 'settings', 'api'), { method: 'totp', totp_unlink: true }),
    )
  },
  'an administrator takes the app away': async (world) => {
    const { id } = await withTotp(world)
    world.see('identity', await world.admin(`/identities/${id}`))
    world.see('answer', await world.admin(`/identities/${id}/credentials/totp`, 'DELETE'))
    world.see('again', await world.admin(`/identities/${id}/credentials/totp`, 'DELETE'))
  },
  'after a password an API client is asked for the code': async (world) => {
    const { email, secret } = await withTotp(world)
    const login = await open(world.browser(), 'login', 'api')
    const done = await submit(world.browser(), login, { method: 'password', identifier: email, password })
    world.see('password', done)
    const client = world.browser({ 'x-session-token': done.json.session_token ?? '' })
    world.see('whoami', await client.ask('/sessions/whoami'))
    const init = await client.ask('/self-service/login/api?aal=aal2')
    world.see('init', init)
    const flow = flowOf(init, 'login')
    world.see('wrong', await submit(client, flow, { method: 'totp', totp_code: wrongOf(oneTimePassword(secret)) }))
    const answer = await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) })
    world.see('answer', answer)
    world.note('the same session', answer.json.session?.id === done.json.session?.id)
    world.see('whoami then', await client.ask('/sessions/whoami'))
  },
  'after a password a single-page application is asked for the code': async (world) => {
    const { email, secret } = await withTotp(world)
    const client = world.browser()
    const login = await open(client, 'login', 'browser', '?return_to=/after')
    const fields = { method: 'password', identifier: email, password }
    world.see('password', await submit(client, login, fields))
    world.see('whoami', await client.ask('/sessions/whoami'))
    const init = await client.ask('/self-service/login/browser?aal=aal2')
    world.see('init', init)
    const flow = flowOf(init, 'login')
    world.see('answer', await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) }))
  },
  'after a password a page is asked for the code': async (world) => {
    const { email, secret } = await withTotp(world)
    const client = world.browser()
    const login = await openPage(client, 'login', '?return_to=/after')
    world.see('password', await submitForm(client, login, { method: 'password', identifier: email, password }))
    const flow = await openPage(client, 'login', '?aal=aal2&return_to=/after')
    const code = wrongOf(oneTimePassword(secret))
    world.see('wrong', await submitForm(client, flow, { method: 'totp', totp_code: code }))
    world.see('flow', await client.ask(`/self-service/login/flows?id=${flow.id}`))
    world.see('answer', await submitForm(client, flow, { method: 'totp', totp_code: nextCode(secret) }))
  },
  'below the required level much is refused and some is not': async (world) => {
    const { email } = await withTotp(world)
    const client = await passwordLogin(world, email)
    world.see('settings', await client.ask('/self-service/settings/api'))
    world.see('sessions', await client.ask('/sessions'))
    world.see('end others', await client.ask('/sessions', { method: 'DELETE' }))
    world.see('login', await client.ask('/self-service/login/api'))
    world.see('registration', await client.ask('/self-service/registration/api'))
  },
  'below the required level a browser is sent to the code': async (world) => {
    const { email } = await withTotp(world)
    const client = world.browser()
    const login = await open(client, 'login', 'browser')
    await submit(client, login, { method: 'password', identifier: email, password })
    world.see('settings', await client.ask('/self-service/settings/browser'))
    world.see('settings page', await client.page('/self-service/settings/browser'))
    world.see('login', await client.ask('/self-service/login/browser'))
    world.see('login page', await client.page('/self-service/login/browser'))
    world.see('logout', await client.ask('/self-service/logout/browser'))
  },
  'with the code given nothing more is asked': async (world) => {
    const { client } = await withTotp(world)
    world.see('answer', await client.ask('/self-service/login/api?aal=aal2'))
    world.see('refresh', await client.ask('/self-service/login/api?aal=aal2&refresh=true'))
  },
  'the code is given again for a refresh': async (world) => {
    const { client, secret, session } = await withTotp(world)
    const flow = await open(client, 'login', 'api', '?aal=aal2&refresh=true')
    const done = await submit(client, flow, { method: 'totp', totp_code: nextCode(secret) })
    world.see('answer', done)
    world.note('the same session', done.json.session?.id === session.id)
  },
  'without an app there is no way out of the second step': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'login', 'api', '?aal=aal2')
    world.see('init', await client.ask('/self-service/login/api?aal=aal2'))
    world.see('totp', await submit(client, flow, { method: 'totp', totp_code: '123456' }))
    world.see('lookup', await submit(client, flow, { method: 'lookup_secret', lookup_secret: 'abcdefgh' }))
    world.see('password', await submit(client, flow, { method: 'password', identifier: 'a@example.com', password }))
  },
  'without an app a browser has no way out of the second step': async (world) => {
    const { client } = await makeBrowserPerson(world)
    world.see('json', await client.ask('/self-service/login/browser?aal=aal2'))
  },
  'a code without a session is no way in': async (world) => {
    await makePerson(world)
    const flow = await open(world.browser(), 'login', 'api')
    world.see('answer', await submit(world.browser(), flow, { method: 'totp', totp_code: '123456' }))
  },
  'who recovers still needs the code': async (world) => {
    const { email } = await withTotp(world)
    const client = world.browser()
    const flow = await open(client, 'recovery', 'browser')
    await submit(client, flow, { method: 'code', email: email.toLowerCase() })
    const done = await submit(client, flow, { method: 'code', code: await world.code(email) })
    world.see('answer', done)
    world.see('whoami', await client.ask('/sessions/whoami'))
    const id = new URL(done.json.redirect_browser_to ?? '', 'http://localhost').searchParams.get('flow')
    world.see('settings', await client.ask(`/self-service/settings/flows?id=${id}`))
  },
}

const lookup: Record<string, Scenario> = {
  'codes are shown, confirmed and kept': async (world) => {
    const { shown, secrets, done, client } = await withLookup(world)
    world.see('shown', shown)
    world.note('codes', [secrets.length, secrets.every((secret) => /^[a-z0-9]{8}$/.test(secret))])
    world.see('answer', done)
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('settings', await client.ask('/self-service/settings/api'))
  },
  'codes are shown and confirmed in a single-page application': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await open(client, 'settings', 'browser')
    const regenerate = { method: 'lookup_secret', lookup_secret_regenerate: true }
    world.see('shown', await submit(client, flow, regenerate))
    world.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_confirm: true }))
  },
  'codes are shown on a page': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const flow = await openPage(client, 'settings')
    const regenerate = { method: 'lookup_secret', lookup_secret_regenerate: 'true' }
    world.see('answer', await submitForm(client, flow, regenerate))
    world.see('flow', await client.ask(`/self-service/settings/flows?id=${flow.id}`))
  },
  'nothing is confirmed before it was shown': async (world) => {
    const { client } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_confirm: true }))
  },
  'an old session gets no codes': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    const flow = await open(client, 'settings', 'api')
    await world.clock.ageSession(session.id)
    world.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_regenerate: true }))
  },
  'codes are revealed again': async (world) => {
    const { client, secrets } = await withLookup(world)
    const flow = await open(client, 'settings', 'api')
    const answer = await submit(client, flow, { method: 'lookup_secret', lookup_secret_reveal: true })
    world.see('answer', answer)
    world.note(
      'the same',
      lookupCodesIn(flowOf(answer, 'settings')).every((code, i) => code === secrets[i]),
    )
  },
  'codes are taken away': async (world) => {
    const { client } = await withLookup(world)
    const flow = await open(client, 'settings', 'api')
    world.see('answer', await submit(client, flow, { method: 'lookup_secret', lookup_secret_disable: true }))
    world.see('settings', await client.ask('/self-service/settings/api'))
  },
  'a code works once': async (world) => {
    const { email, secrets } = await withLookup(world)
    const client = await passwordLogin(world, email)
    const init = await client.ask('/self-service/login/api?aal=aal2')
    world.see('init', init)
    const fields = { method: 'lookup_secret', lookup_secret: secrets[0] }
    world.see('answer', await submit(client, flowOf(init, 'login'), fields))
    const next = await passwordLogin(world, email)
    const again = await open(next, 'login', 'api', '?aal=aal2')
    world.see('again', await submit(next, again, fields))
    world.see('wrong', await submit(next, again, { ...fields, lookup_secret: 'zzzzzzz0' }))
    world.see('empty', await submit(next, again, { ...fields, lookup_secret: '' }))
    const settings = await open(client, 'settings', 'api')
    world.see('revealed', await submit(client, settings, { method: 'lookup_secret', lookup_secret_reveal: true }))
  },
  'an administrator takes the codes away': async (world) => {
    const { id } = await withLookup(world)
    world.see('answer', await world.admin(`/identities/${id}/credentials/lookup_secret`, 'DELETE'))
    world.see('identity', await world.admin(`/identities/${id}`))
  },
  'with app and codes either is offered': async (world) => {
    const { client, email } = await withLookup(world)
    await enrolTotp({ client })
    const other = await passwordLogin(world, email)
    world.see('answer', await other.ask('/self-service/login/api?aal=aal2'))
  },
}

export const factors: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(totp).map(([name, scenario]) => [`totp: ${name}`, scenario])),
  ...Object.fromEntries(Object.entries(lookup).map(([name, scenario]) => [`lookup: ${name}`, scenario])),
}
