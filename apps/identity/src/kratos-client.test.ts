import { FrontendApi, IdentityApi, MetadataApi } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getCsrfToken, messageIds } from '../test/browser.ts'
import { consoleUrl, goodPassword, makeEmail, startTestIdentity, type TestIdentity } from '../test/identity.ts'
import { getCode, type MailServer, startMailServer } from '../test/mail-server.ts'

// Runs the published client against this service, with every method that the API of Crux includes.

const called = new Set<string>()
/** Records which methods a test calls. */
const noting = <T extends object>(api: T): T =>
  new Proxy(api, {
    get(target, name, receiver) {
      called.add(String(name))
      return Reflect.get(target, name, receiver)
    },
  })

let mails: MailServer
let identity: TestIdentity
let frontend: FrontendApi
let admin: IdentityApi
let metadata: MetadataApi
beforeAll(async () => {
  mails = await startMailServer()
  identity = await startTestIdentity({ SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true` })
  frontend = noting(identity.frontend)
  admin = noting(identity.admin)
  metadata = noting(identity.metadata)
})
afterAll(async () => {
  await identity.stop()
  await mails.close()
})

/** A cookie jar across the answers of one browser. */
class Cookies {
  readonly #values = new Map<string, string>()

  keep<T extends { headers: object }>(answer: T): T {
    const { 'set-cookie': lines = [] } = answer.headers as { 'set-cookie'?: string[] }
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#values.delete(name)
      else this.#values.set(name, value)
    }
    return answer
  }

  get cookie(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}

async function makeVerified() {
  const email = makeEmail()
  const { data } = await admin.createIdentity({
    createIdentityBody: {
      schema_id: 'default',
      traits: { email, name: { first: 'Ada', last: 'Byron' } },
      credentials: { password: { config: { password: goodPassword } } },
      verifiable_addresses: [{ value: email, verified: true, via: 'email', status: 'completed' }],
    },
  })
  return { email, id: data.id }
}

async function signIn(email: string) {
  const { data: flow } = await frontend.createNativeLoginFlow()
  const { data, status } = await frontend.updateLoginFlow({
    flow: flow.id,
    updateLoginFlowBody: { method: 'password', identifier: email, password: goodPassword },
  })
  expect(status).toBe(200)
  return { xSessionToken: data.session_token ?? '', session: data.session }
}

async function signInBrowser(email: string) {
  const cookies = new Cookies()
  const { data: flow } = cookies.keep(await frontend.createBrowserLoginFlow({ returnTo: '/projects' }))
  const { data: shown } = await frontend.getLoginFlow({ id: flow.id, cookie: cookies.cookie })
  const answer = await frontend.updateLoginFlow({
    flow: flow.id,
    updateLoginFlowBody: {
      method: 'password',
      identifier: email,
      password: goodPassword,
      csrf_token: getCsrfToken(shown),
    },
    cookie: cookies.cookie,
  })
  expect(cookies.keep(answer).status).toBe(200)
  return cookies
}

describe('an API client', () => {
  it('signs up, verifies, signs in and out', async () => {
    const email = makeEmail()
    const { data: flow } = await frontend.createNativeRegistrationFlow()
    expect((await frontend.getRegistrationFlow({ id: flow.id })).data.id).toBe(flow.id)
    const made = await frontend.updateRegistrationFlow({
      flow: flow.id,
      updateRegistrationFlowBody: { method: 'password', password: goodPassword, traits: { email } },
    })
    expect(made.data.identity.traits).toEqual({ email, name: {} })

    const { data: verification } = await frontend.createNativeVerificationFlow()
    const updateVerificationFlowBody = { method: 'code', email } as const
    await codeTo(email)
    const sent = await frontend.updateVerificationFlow({ flow: verification.id, updateVerificationFlowBody })
    expect(sent.data.state).toBe('sent_email')
    const done = await frontend.updateVerificationFlow({
      flow: verification.id,
      updateVerificationFlowBody: { method: 'code', code: await codeTo(email) },
    })
    expect(done.data.state).toBe('passed_challenge')
    expect((await frontend.getVerificationFlow({ id: verification.id })).data.state).toBe('passed_challenge')

    const { xSessionToken } = await signIn(email)
    const { data: session } = await frontend.toSession({ xSessionToken })
    expect(session.identity?.verifiable_addresses?.[0]?.verified).toBe(true)
    const performNativeLogoutBody = { session_token: xSessionToken }
    expect((await frontend.performNativeLogout({ performNativeLogoutBody })).status).toBe(204)
    expect((await frontend.toSession({ xSessionToken })).status).toBe(401)
  })

  it('lists and ends its other sessions', async () => {
    const { email } = await makeVerified()
    const { xSessionToken } = await signIn(email)
    const [second, third] = [await signIn(email), await signIn(email)]
    const { data: others } = await frontend.listMySessions({ xSessionToken, perPage: 10, page: 1 })
    expect(others.map(({ id }) => id).sort()).toEqual([second.session.id, third.session.id].sort())
    expect((await frontend.disableMySession({ id: second.session.id, xSessionToken })).status).toBe(204)
    expect((await frontend.disableMyOtherSessions({ xSessionToken })).data.count).toBe(1)
    expect((await frontend.listMySessions({ xSessionToken })).data).toEqual([])
  })

  it('updates its settings', async () => {
    const { email } = await makeVerified()
    const { xSessionToken } = await signIn(email)
    const { data: flow } = await frontend.createNativeSettingsFlow({ xSessionToken })
    expect((await frontend.getSettingsFlow({ id: flow.id, xSessionToken })).data.state).toBe('show_form')
    const traits = { email, name: { first: 'Grace', last: 'Hopper' } }
    const saved = await frontend.updateSettingsFlow({
      flow: flow.id,
      xSessionToken,
      updateSettingsFlowBody: { method: 'profile', traits },
    })
    expect([saved.status, saved.data.state, saved.data.identity.traits]).toEqual([200, 'success', traits])
  })

  it('recovers with a code and gets a session', async () => {
    const { email } = await makeVerified()
    const { data: flow } = await frontend.createNativeRecoveryFlow()
    expect((await frontend.getRecoveryFlow({ id: flow.id })).data.state).toBe('choose_method')
    await frontend.updateRecoveryFlow({ flow: flow.id, updateRecoveryFlowBody: { method: 'code', email } })
    const { status, data } = await frontend.updateRecoveryFlow({
      flow: flow.id,
      updateRecoveryFlowBody: { method: 'code', code: await codeTo(email) },
    })
    expect([status, data.state]).toEqual([200, 'passed_challenge'])
    const step = data.continue_with?.find((entry) => entry.action === 'set_ory_session_token')
    const { data: session } = await frontend.toSession({ xSessionToken: step?.ory_session_token })
    expect(session.authentication_methods?.[0]?.method).toBe('code_recovery')
  })

  it('cannot exchange a code that was never issued', async () => {
    const { status } = await frontend.exchangeSessionToken({ initCode: 'zz', returnToCode: 'zz' })
    expect(status).toBe(404)
  })
})

describe('a browser', () => {
  it('signs up', async () => {
    const cookies = new Cookies()
    const { data: flow } = cookies.keep(await frontend.createBrowserRegistrationFlow({ returnTo: '/after' }))
    const made = await frontend.updateRegistrationFlow({
      flow: flow.id,
      cookie: cookies.cookie,
      updateRegistrationFlowBody: {
        method: 'password',
        password: goodPassword,
        traits: { email: makeEmail() },
        csrf_token: getCsrfToken(flow),
      },
    })
    expect(made.data.continue_with?.map(({ action }) => action)).toContain('show_verification_ui')
    expect((await frontend.toSession({ cookie: cookies.keep(made) && cookies.cookie })).status).toBe(200)
  })

  it('signs in, confirms it and signs out', async () => {
    const { email } = await makeVerified()
    const cookies = await signInBrowser(email)
    const { data: again } = cookies.keep(
      await frontend.createBrowserLoginFlow({ refresh: true, cookie: cookies.cookie }),
    )
    expect(again.refresh).toBe(true)
    const { data: logout } = await frontend.createBrowserLogoutFlow({ cookie: cookies.cookie })
    const out = await frontend.updateLogoutFlow({ token: logout.logout_token, cookie: cookies.cookie })
    expect(out.status).toBe(204)
    expect((await frontend.toSession({ cookie: cookies.cookie })).status).toBe(401)
  })

  it('reads verification, recovery and settings flows', async () => {
    const { email } = await makeVerified()
    expect((await frontend.createBrowserVerificationFlow()).data.ui.nodes).not.toEqual([])
    const cookies = new Cookies()
    const { data: recovery } = cookies.keep(await frontend.createBrowserRecoveryFlow())
    const submit = (fields: { email?: string; code?: string }) =>
      frontend.updateRecoveryFlow({
        flow: recovery.id,
        cookie: cookies.cookie,
        updateRecoveryFlowBody: { method: 'code', csrf_token: getCsrfToken(recovery), ...fields },
      })
    await submit({ email })
    const done = cookies.keep(await submit({ code: await codeTo(email) }))
    const { redirect_browser_to: to } = done.data as unknown as { redirect_browser_to: string }
    expect([done.status, to.startsWith(`${consoleUrl}/auth/settings?flow=`)]).toEqual([422, true])
    const id = new URL(to).searchParams.get('flow') ?? ''
    expect(messageIds((await frontend.getSettingsFlow({ id, cookie: cookies.cookie })).data)).toEqual([1060001])
    const settings = await frontend.createBrowserSettingsFlow({ cookie: cookies.cookie })
    expect(settings.data.ui.nodes).not.toEqual([])
  })

  it('reads an error and the script of the passkeys', async () => {
    const { data } = await frontend.getFlowError({ id: 'stub:500' })
    expect(data.error).toMatchObject({ code: 500 })
    expect((await frontend.getWebAuthnJavaScript()).data).toContain('oryPasskeyLogin')
  })
})

describe('an administrator', () => {
  it('creates, reads, updates and deletes identities', async () => {
    const { email, id } = await makeVerified()
    expect((await admin.getIdentity({ id })).data.traits.email).toBe(email)
    const [found] = (await admin.listIdentities({ credentialsIdentifier: email.toUpperCase() })).data
    expect(found?.id).toBe(id)
    const similar = await admin.listIdentities({ previewCredentialsIdentifierSimilar: email.slice(0, -4) })
    expect(similar.data.map((entry) => entry.id)).toEqual([id])
    expect((await admin.listIdentities({ ids: [id], pageSize: 5, consistency: 'strong' })).data).toHaveLength(1)
    const updateIdentityBody = { schema_id: 'default', state: 'inactive', traits: { email } } as const
    expect((await admin.updateIdentity({ id, updateIdentityBody })).data.state).toBe('inactive')
    const jsonPatch = [{ op: 'replace', path: '/state', value: 'active' }]
    expect((await admin.patchIdentity({ id, jsonPatch })).data.state).toBe('active')
    expect((await admin.deleteIdentityCredentials({ id, type: 'totp' })).status).toBe(404)
    expect((await admin.deleteIdentity({ id })).status).toBe(204)
    expect((await admin.getIdentity({ id })).status).toBe(404)
  })

  it('creates several identities at once', async () => {
    const create = () => ({ schema_id: 'default', traits: { email: makeEmail() } })
    const identities = [{ create: create() }, { create: create() }]
    const { data } = await admin.batchPatchIdentities({ patchIdentitiesBody: { identities } })
    expect(data.identities?.map(({ action }) => action)).toEqual(['create', 'create'])
  })

  it('lists, extends and ends sessions', async () => {
    const { email, id } = await makeVerified()
    const { session, xSessionToken } = await signIn(email)
    expect((await admin.listIdentitySessions({ id, active: true })).data.map((entry) => entry.id)).toEqual([session.id])
    expect((await admin.listSessions({ active: true, pageSize: 1, expand: ['identity'] })).data).toHaveLength(1)
    const { data: shown } = await admin.getSession({ id: session.id, expand: ['identity', 'devices'] })
    expect([shown.identity?.id, shown.devices?.length]).toEqual([id, 1])
    const { data: extended } = await admin.extendSession({ id: session.id })
    expect(Date.parse(extended.expires_at ?? '')).toBeGreaterThanOrEqual(Date.parse(session.expires_at ?? ''))
    expect((await admin.disableSession({ id: session.id })).status).toBe(204)
    expect((await frontend.toSession({ xSessionToken })).status).toBe(401)
    expect((await admin.deleteIdentitySessions({ id })).status).toBe(204)
    expect((await admin.listIdentitySessions({ id })).data).toEqual([])
  })

  it('starts recovery for a user who lost the password', async () => {
    const { id } = await makeVerified()
    const code = await admin.createRecoveryCodeForIdentity({ createRecoveryCodeForIdentityBody: { identity_id: id } })
    expect([code.status, /^\d{6}$/.test(code.data.recovery_code)]).toEqual([201, true])
    const link = await admin.createRecoveryLinkForIdentity({
      returnTo: '/after',
      createRecoveryLinkForIdentityBody: { identity_id: id },
    })
    const { pathname, searchParams } = new URL(link.data.recovery_link)
    expect([link.status, pathname]).toEqual([200, '/kratos/self-service/recovery'])
    expect([...searchParams.keys()].sort()).toEqual(['flow', 'token'])
  })

  it('reads schemas and the health of the service', async () => {
    expect((await admin.listIdentitySchemas()).data.map(({ id }) => id)).toEqual(['default'])
    expect(await admin.getIdentitySchema({ id: 'default' })).toMatchObject({ data: { title: 'Person' } })
    expect((await metadata.getVersion()).data.version).toMatch(/^\d+\.\d+\.\d+/)
    expect((await metadata.isAlive()).data.status).toBe('ok')
    expect((await metadata.isReady()).data.status).toBe('ok')
  })
})

/** These methods are not part of the API that Crux uses: federated credentials of browsers, and ids of other systems. */
const notOffered = ['createFedcmFlow', 'updateFedcmFlow', 'getIdentityByExternalID']

it('the tests above call every method of the client', () => {
  const methods = [FrontendApi, IdentityApi, MetadataApi].flatMap((api) => Object.getOwnPropertyNames(api.prototype))
  const left = methods.filter((name) => name !== 'constructor' && !called.has(name))
  expect(left.sort()).toEqual(notOffered.sort())
})

async function codeTo(email: string): Promise<string> {
  for (;;) {
    const code = getCode(await mails.next(email))
    if (code !== '') return code
  }
}
