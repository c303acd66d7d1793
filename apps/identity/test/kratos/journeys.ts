import type {
  LoginFlow,
  LogoutFlow,
  RegistrationFlow,
  Session,
  SuccessfulNativeRegistration,
  VerificationFlow,
} from '@ory/kratos-client'
import { type Answer, type Browser, csrfOf } from '../browser.ts'

/** A service under test: the original or ours. */
interface World {
  consoleUrl: string
  browser(headers?: Record<string, string>): Browser
  admin<T>(path: string, method?: string, json?: unknown): Promise<Answer<T>>
  /** The newest code that was mailed to an address and not yet handed out. */
  code(email: string): Promise<string>
  see(label: string, answer: Answer): void
}

const password = 'seven purple Otters 31'
const nobody = '11111111-1111-4111-8111-111111111111'
let count = 0
const newEmail = () => {
  count += 1
  return `Journey${process.pid}-${Date.now()}-${count}@Example.com`
}

type Journey = (world: World) => Promise<void>

/** What the console and API clients do with the password method, step by step. */
export const journeys: Record<string, Journey> = {
  'sign up by api': async ({ browser, see }) => {
    const init = await browser().ask<RegistrationFlow>('/self-service/registration/api?return_to=/after')
    see('init', init)
    const email = newEmail()
    const submit = (fields: unknown) =>
      browser().ask<SuccessfulNativeRegistration>(`/self-service/registration?flow=${init.json.id}`, { json: fields })
    const traits = { email, name: { first: 'Ada', last: 'Byron' } }
    see('short password', await submit({ method: 'password', password: 'short', traits }))
    see('similar password', await submit({ method: 'password', password: email, traits }))
    see('no password', await submit({ method: 'password', traits }))
    see('empty address', await submit({ method: 'password', password, traits: { ...traits, email: '' } }))
    see('unknown trait', await submit({ method: 'password', password, traits: { ...traits, zap: 1 } }))
    see('no method', await submit({ password, traits }))
    const made = await submit({ method: 'password', password, traits })
    see('made', made)
    const headers = { 'x-session-token': made.json.session_token ?? '' }
    see('whoami', await browser(headers).ask('/sessions/whoami'))
    see('with a session', await browser(headers).ask('/self-service/registration/api'))
    const next = await browser().ask<RegistrationFlow>('/self-service/registration/api')
    const taken = { method: 'password', password, traits: { ...traits, email: email.toUpperCase() } }
    see('taken', await browser().ask(`/self-service/registration?flow=${next.json.id}`, { json: taken }))
    see('unknown flow', await browser().ask(`/self-service/registration?flow=${nobody}`, { json: {} }))
    see('no flow', await browser().ask('/self-service/registration', { json: {} }))
  },

  'sign up in a single-page application': async ({ browser, see }) => {
    const person = browser()
    const init = await person.ask<RegistrationFlow>('/self-service/registration/browser?return_to=/after')
    see('init', init)
    const path = `/self-service/registration?flow=${init.json.id}`
    const fields = { method: 'password', password, traits: { email: newEmail() } }
    see('without csrf token', await person.ask(path, { json: fields }))
    see('by another browser', await browser().ask(`/self-service/registration/flows?id=${init.json.id}`))
    const complete = { ...fields, csrf_token: csrfOf(init.json) }
    see('short password', await person.ask(path, { json: { ...complete, password: 'short' } }))
    see('made', await person.ask(path, { json: complete }))
    see('whoami', await person.ask('/sessions/whoami'))
    see('again', await person.ask('/self-service/registration/browser'))
    see('again as a page', await person.page('/self-service/registration/browser'))
    see('other sessions', await person.ask('/sessions'))
  },

  'sign up with pages': async ({ browser, see }) => {
    const person = browser()
    const init = await person.page('/self-service/registration/browser')
    see('init', init)
    const id = new URL(init.location ?? '').searchParams.get('flow')
    const flow = await person.ask<RegistrationFlow>(`/self-service/registration/flows?id=${id}`)
    const path = `/self-service/registration?flow=${id}`
    const form = { method: 'password', csrf_token: csrfOf(flow.json), 'traits.email': newEmail(), password }
    see('without csrf token', await person.page(path, { form: { ...form, csrf_token: '' } }))
    see('short password', await person.page(path, { form: { ...form, password: 'short' } }))
    see('with the mistake', await person.ask(`/self-service/registration/flows?id=${id}`))
    see('made', await person.page(path, { form }))
  },

  'sign in by api': async (world) => {
    const { browser, see } = world
    const { email, token } = await verifiedPerson(world)
    const init = await browser().ask<LoginFlow>('/self-service/login/api')
    see('init', init)
    const path = `/self-service/login?flow=${init.json.id}`
    const fields = { method: 'password', identifier: email, password }
    see('wrong password', await browser().ask(path, { json: { ...fields, password: 'not my password' } }))
    see('nothing typed', await browser().ask(path, { json: { method: 'password' } }))
    see('no method', await browser().ask(path, { json: {} }))
    see('with a cookie', await browser({ cookie: 'a=b' }).ask(path, { json: fields }))
    const json = { 'content-type': 'application/json' }
    see('broken body', await browser().ask(path, { body: '{"a', headers: json }))
    see('done', await browser().ask(path, { json: fields }))
    const signed = browser({ 'x-session-token': token })
    see('init with a session', await signed.ask('/self-service/login/api'))
    const refresh = await signed.ask<LoginFlow>('/self-service/login/api?refresh=true')
    see('init again', refresh)
    see('confirmed', await signed.ask(`/self-service/login?flow=${refresh.json.id}`, { json: fields }))
    see('second factor', await signed.ask('/self-service/login/api?aal=aal2'))
    see('second factor of nobody', await browser().ask('/self-service/login/api?aal=aal2'))
    see('unknown aal', await browser().ask('/self-service/login/api?aal=aal9'))
    see('refresh of nobody', await browser().ask('/self-service/login/api?refresh=true'))
  },

  'sign in and out in a browser': async (world) => {
    const { browser, see } = world
    const { email } = await verifiedPerson(world)
    const person = browser()
    const init = await person.ask<LoginFlow>('/self-service/login/browser?return_to=/projects')
    see('init', init)
    const path = `/self-service/login?flow=${init.json.id}`
    const fields = { method: 'password', identifier: email, password, csrf_token: csrfOf(init.json) }
    see('json body of a page', await person.page(path, { json: { ...fields, password: 'not my password' } }))
    see('done', await person.ask(path, { json: fields }))
    see('init with a session', await person.ask('/self-service/login/browser'))
    const refresh = await person.ask<LoginFlow>('/self-service/login/browser?refresh=true')
    see('init again', refresh)
    const again = { ...fields, csrf_token: csrfOf(refresh.json) }
    see('confirmed', await person.ask(`/self-service/login?flow=${refresh.json.id}`, { json: again }))
    const logout = await person.ask<LogoutFlow>('/self-service/logout/browser?return_to=/bye')
    see('sign out', logout)
    const out = logout.json.logout_url.slice(logout.json.logout_url.indexOf('/self-service'))
    see('wrong logout token', await person.ask('/self-service/logout?token=zzz'))
    see('no logout token', await person.ask('/self-service/logout'))
    see('signed out', await person.page(out))
    see('signed out twice', await person.ask(out))
    see('sign out of nobody', await person.ask('/self-service/logout/browser'))
    see('whoami', await person.ask('/sessions/whoami'))
  },

  'sign in with pages': async (world) => {
    const { browser, see } = world
    const { email } = await verifiedPerson(world)
    const person = browser()
    const init = await person.page('/self-service/login/browser?return_to=/projects')
    see('init', init)
    const id = new URL(init.location ?? '').searchParams.get('flow')
    const flow = await person.ask<LoginFlow>(`/self-service/login/flows?id=${id}`)
    const path = `/self-service/login?flow=${id}`
    const form = { method: 'password', identifier: email, password, csrf_token: csrfOf(flow.json) }
    see('wrong password', await person.page(path, { form: { ...form, password: 'not my password' } }))
    see('with the mistake', await person.ask(`/self-service/login/flows?id=${id}`))
    see('done', await person.page(path, { form }))
    for (const target of ['http://evil.test/', '//evil.test', 'javascript:alert(1)'])
      see(`to ${target}`, await browser().ask(`/self-service/login/browser?return_to=${encodeURIComponent(target)}`))
  },

  'verify by api': async (world) => {
    const { browser, see } = world
    const made = await signUp(world)
    const { email, flow: id } = made
    see('flow', await browser().ask(`/self-service/verification/flows?id=${id}`))
    const login = await browser().ask<LoginFlow>('/self-service/login/api')
    const fields = { method: 'password', identifier: email, password }
    see('too early', await browser().ask(`/self-service/login?flow=${login.json.id}`, { json: fields }))
    const submit = (json: unknown, flow = id) => browser().ask(`/self-service/verification?flow=${flow}`, { json })
    const code = await world.code(email)
    see('verified', await submit({ method: 'code', code }))
    see('used again', await submit({ method: 'code', code }))
    const own = await browser().ask<VerificationFlow>('/self-service/verification/api')
    see('own flow', own)
    see('stranger', await submit({ method: 'code', email: 'stranger@example.com' }, own.json.id))
    see('sent', await submit({ method: 'code', email: email.toLowerCase() }, own.json.id))
    see('wrong code', await submit({ method: 'code', code: await wrongCode(world, email) }, own.json.id))
    const other = await browser().ask<VerificationFlow>('/self-service/verification/api')
    see('not an address', await submit({ method: 'code', email: '' }, other.json.id))
    see(
      'by link',
      await submit(
        { method: 'link', email },
        (await browser().ask<VerificationFlow>('/self-service/verification/api')).json.id,
      ),
    )
  },

  'verify in a browser': async (world) => {
    const { browser, see } = world
    const person = browser()
    const email = newEmail()
    const init = await person.ask<RegistrationFlow>('/self-service/registration/browser?return_to=/after')
    const made = await person.ask<SuccessfulNativeRegistration>(`/self-service/registration?flow=${init.json.id}`, {
      json: { method: 'password', csrf_token: csrfOf(init.json), password, traits: { email } },
    })
    see('made', made)
    const id = verificationFlowOf(made.json)
    const flow = await person.ask<VerificationFlow>(`/self-service/verification/flows?id=${id}`)
    see('flow', flow)
    const code = await world.code(email)
    const elsewhere = browser()
    see('link', await elsewhere.page(`/self-service/verification?flow=${id}&code=${code}`))
    const opened = await elsewhere.ask<VerificationFlow>(`/self-service/verification/flows?id=${id}`)
    see('opened', opened)
    const form = { method: 'code', code, csrf_token: csrfOf(opened.json) }
    see('done', await elsewhere.page(`/self-service/verification?flow=${id}`, { form }))
    see('shown', await elsewhere.ask(`/self-service/verification/flows?id=${id}`))
  },

  sessions: async (world) => {
    const { browser, see } = world
    const { email, token, session } = await verifiedPerson(world)
    const login = await browser().ask<LoginFlow>('/self-service/login/api')
    const fields = { method: 'password', identifier: email, password }
    const other = await browser().ask<{ session_token: string; session: Session }>(
      `/self-service/login?flow=${login.json.id}`,
      { json: fields },
    )
    const signed = browser({ 'x-session-token': token })
    see('others', await signed.ask('/sessions'))
    see('as bearer', await browser({ authorization: `bearer ${token}` }).ask('/sessions/whoami', { method: 'POST' }))
    see('bad token', await browser({ 'x-session-token': 'bad' }).ask('/sessions/whoami'))
    see('unknown template', await signed.ask('/sessions/whoami?tokenize_as=x'))
    see('own', await signed.ask(`/sessions/${session}`, { method: 'DELETE' }))
    see('nonsense', await signed.ask('/sessions/zz', { method: 'DELETE' }))
    see('of nobody', await signed.ask('/sessions', { method: 'GET', headers: { 'x-session-token': 'bad' } }))
    see('all others', await signed.ask('/sessions', { method: 'DELETE' }))
    see('ended', await browser({ 'x-session-token': other.json.session_token }).ask('/sessions/whoami'))
    const out = (json: unknown) => browser().ask('/self-service/logout/api', { method: 'DELETE', json })
    see('sign out', await out({ session_token: token }))
    see('sign out twice', await out({ session_token: token }))
    see('sign out of nobody', await out({ session_token: 'ory_st_nobody' }))
  },

  addresses: async ({ browser, see }) => {
    for (const path of [
      '/nowhere',
      '/self-service/errors',
      '/self-service/errors?id=zz',
      '/health/alive',
      '/health/ready',
      '/schemas/default',
      '/schemas/ZGVmYXVsdA',
      '/schemas/zz',
      '/version',
    ])
      see(path, await browser().ask(path))
    see('error page', await browser().page('/self-service/login/browser?aal=aal2'))
    see('method', await browser().ask('/self-service/login', { method: 'DELETE' }))
    see('slash', await browser().ask('/self-service/login/browser/?a=b'))
    see('options', await browser().ask('/sessions', { method: 'OPTIONS' }))
  },

  'identities of an administrator': async ({ admin, see }) => {
    const email = newEmail()
    const made = await admin<{ id: string }>('/identities', 'POST', {
      traits: { email, name: { first: 'Ada' } },
      credentials: { password: { config: { password } } },
      metadata_public: { a: 1 },
    })
    see('made', made)
    const path = `/identities/${made.json.id}`
    see('taken', await admin('/identities', 'POST', { traits: { email } }))
    see('unknown field', await admin('/identities', 'POST', { traits: { email: newEmail() }, id: nobody }))
    see('unknown schema', await admin('/identities', 'POST', { traits: { email: newEmail() }, schema_id: 'zz' }))
    see('read', await admin(path))
    see('found', await admin(`/identities?credentials_identifier=${encodeURIComponent(email.toUpperCase())}`))
    see('by ids', await admin(`/identities?ids=${made.json.id}&ids=${nobody}&page_size=10`))
    see('none found', await admin('/identities?credentials_identifier=nobody'))
    for (const query of ['ids=zz', 'page_size=x', 'page_token=x']) see(query, await admin(`/identities?${query}`))
    const patch = (op: string, where: string, value?: unknown) => admin(path, 'PATCH', [{ op, path: where, value }])
    see('patched', await patch('add', '/metadata_admin/x/y', 3))
    see('patched id', await patch('replace', '/id', nobody))
    see('patched with test', await patch('test', '/state', 'active'))
    see('patched state', await patch('replace', '/state', 'zz'))
    see('replaced', await admin(path, 'PUT', { traits: { email: newEmail() } }))
    see('password', await admin(`${path}/credentials/password`, 'DELETE'))
    see('totp', await admin(`${path}/credentials/totp`, 'DELETE'))
    see('deleted', await admin(path, 'DELETE'))
    see('deleted twice', await admin(path, 'DELETE'))
    see('nonsense', await admin('/identities/zz'))
  },

  'sessions of an administrator': async (world) => {
    const { admin, see } = world
    const { id, session } = await verifiedPerson(world)
    see('of an identity', await admin(`/identities/${id}/sessions?page_size=1`))
    see('read', await admin(`/sessions/${session}`))
    see('expanded', await admin(`/sessions/${session}?expand=Identity&expand=Devices`))
    see('extended', await admin(`/sessions/${session}/extend`, 'PATCH'))
    see('ended', await admin(`/sessions/${session}`, 'DELETE'))
    see('ended twice', await admin(`/sessions/${session}`, 'DELETE'))
    see('extended after its end', await admin(`/sessions/${session}/extend`, 'PATCH'))
    see('deleted', await admin(`/identities/${id}/sessions`, 'DELETE'))
    see('deleted twice', await admin(`/identities/${id}/sessions`, 'DELETE'))
    for (const path of [
      '/sessions/zz',
      `/sessions/${nobody}`,
      '/sessions?active=x',
      '/sessions?expand=x',
      '/identities/zz/sessions',
    ])
      see(path, await admin(path))
  },
}

async function signUp({ browser }: World) {
  const email = newEmail()
  const { json: flow } = await browser().ask<RegistrationFlow>('/self-service/registration/api')
  const { json: made } = await browser().ask<SuccessfulNativeRegistration>(
    `/self-service/registration?flow=${flow.id}`,
    {
      json: { method: 'password', password, traits: { email, name: { first: 'Ada', last: 'Byron' } } },
    },
  )
  const token = made.session_token ?? ''
  return { email, token, id: made.identity.id, session: made.session?.id, flow: verificationFlowOf(made) }
}

async function verifiedPerson(world: World) {
  const person = await signUp(world)
  const code = await world.code(person.email)
  await world.browser().ask(`/self-service/verification?flow=${person.flow}`, { json: { method: 'code', code } })
  return person
}

async function wrongCode(world: World, email: string): Promise<string> {
  return (await world.code(email)) === '000000' ? '000001' : '000000'
}

function verificationFlowOf(made: SuccessfulNativeRegistration): string {
  const step = made.continue_with?.find((entry) => entry.action === 'show_verification_ui')
  return step && 'flow' in step ? step.flow.id : ''
}
