import { consoleUrl } from '../../console-url.ts'
import { type Flow, open, openPage, submit, submitForm } from '../flows.ts'
import type { Scenario, TestEnvironment } from '../service.ts'
import { makeUser, newEmail, nobody, password, signInBrowser } from '../users.ts'

const fields = (identifier: string) => ({ method: 'password', identifier, password })
const json = { 'content-type': 'application/json' }

/** Posts a body to a login flow of an API client. */
const posted =
  (body: string | undefined, contentType?: string): Scenario =>
  async ({ browser, see }) => {
    const flow = await open(browser(), 'login', 'api')
    const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
    see('answer', await browser().ask(`/self-service/login?flow=${flow.id}`, { method: 'POST', body, headers }))
  }

const bodies: Record<string, Scenario> = {
  'broken JSON': posted('{"a', 'application/json'),
  'a JSON list': posted('[]', 'application/json'),
  'a JSON text': posted('"a"', 'application/json'),
  'JSON null': posted('null', 'application/json'),
  'an empty JSON body': posted('', 'application/json'),
  'an empty object': posted('{}', 'application/json'),
  'a body of another type': posted('<a/>', 'text/xml'),
  'a body of several parts': posted('--x--', 'multipart/form-data; boundary=x'),
  'a form of an API client': posted(
    'method=password&identifier=nobody&password=wrong',
    'application/x-www-form-urlencoded',
  ),
  'no body': posted(undefined),
}

async function loginFlow(testEnvironment: TestEnvironment) {
  const { email } = await makeUser(testEnvironment)
  const client = testEnvironment.browser()
  return { email, client, flow: await open(client, 'login', 'browser') }
}

const accepts: Record<string, Scenario> = Object.fromEntries(
  Object.entries({
    'JSON among others': 'text/html;q=0.5, application/json;q=0.9',
    'JSON with a wildcard': 'application/json, text/plain, */*',
    anything: '*/*',
    'plain text': 'text/plain',
    nothing: '',
  }).map(([name, accept]): [string, Scenario] => [
    `a client that accepts ${name}`,
    async ({ browser, see }) => {
      see('init', await browser().ask('/self-service/login/browser', { accept }))
      see('read', await browser().ask(`/self-service/login/flows?id=${nobody}`, { accept }))
      see('api', await browser().ask('/self-service/login/api?aal=aal2', { accept }))
      see('logout', await browser().ask('/self-service/logout/browser', { accept }))
    },
  ]),
)

/** Submits valid fields with headers that only browsers send. */
const refusedByApiFlows =
  (headers: Record<string, string>): Scenario =>
  async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const code = { method: 'code', email: email.toLowerCase() }
    const bodies = {
      login: fields(email),
      registration: { method: 'password', password, traits: { email: newEmail() } },
      verification: code,
      recovery: code,
    }
    for (const kind of ['login', 'registration', 'verification', 'recovery'] as const) {
      const flow = await open(testEnvironment.browser(), kind, 'api')
      testEnvironment.see(kind, await submit(testEnvironment.browser(headers), flow, bodies[kind]))
    }
  }

const csrf: Record<string, Scenario> = {
  'a JSON body of a page is answered with JSON': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const path = `/self-service/login?flow=${flow.id}`
    testEnvironment.see('answer', await client.page(path, { json: { ...fields(email), password: 'not my password' } }))
  },
  'a submit without the csrf token of the form is refused': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const path = `/self-service/login?flow=${flow.id}`
    testEnvironment.see('missing', await client.ask(path, { json: fields(email) }))
    testEnvironment.see('empty', await submit(client, flow, { ...fields(email), csrf_token: '' }))
    testEnvironment.see('nonsense', await submit(client, flow, { ...fields(email), csrf_token: 'zz' }))
    testEnvironment.see('page', await submitForm(client, flow, { ...fields(email), csrf_token: '' }))
  },
  'a csrf token in a header is not accepted': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const token = getToken(flow)
    const headers = { 'x-csrf-token': token }
    testEnvironment.see(
      'answer',
      await client.ask(`/self-service/login?flow=${flow.id}`, { json: fields(email), headers }),
    )
  },
  'a submit without the csrf cookie is refused': async (testEnvironment) => {
    const { flow, email } = await loginFlow(testEnvironment)
    testEnvironment.see('answer', await submit(testEnvironment.browser(), flow, fields(email)))
    testEnvironment.see('page', await submitForm(testEnvironment.browser(), flow, fields(email)))
  },
  'the csrf token of another flow of the same browser is accepted': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const other = await open(client, 'login', 'browser')
    testEnvironment.note('masked afresh', getToken(flow) !== getToken(other))
    testEnvironment.see('answer', await submit(client, flow, { ...fields(email), csrf_token: getToken(other) }))
  },
  'the csrf token of another browser is refused': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const other = await open(testEnvironment.browser(), 'login', 'browser')
    testEnvironment.see('answer', await submit(client, flow, { ...fields(email), csrf_token: getToken(other) }))
  },
  'a flow can be read only by its browser': async (testEnvironment) => {
    const { flow } = await loginFlow(testEnvironment)
    const registration = await open(testEnvironment.browser(), 'registration', 'browser')
    const verification = await open(testEnvironment.browser(), 'verification', 'browser')
    for (const { kind, id } of [flow, registration, verification])
      testEnvironment.see(kind, await testEnvironment.browser().ask(`/self-service/${kind}/flows?id=${id}`))
    testEnvironment.see('page', await testEnvironment.browser().page(`/self-service/login/flows?id=${flow.id}`))
  },
  'signing in changes the cookie': async (testEnvironment) => {
    const { client, flow, email } = await loginFlow(testEnvironment)
    const before = [...client.cookies].find(([name]) => name.startsWith('csrf'))?.[1]
    await submit(client, flow, fields(email))
    const after = [...client.cookies].find(([name]) => name.startsWith('csrf'))?.[1]
    testEnvironment.note('changed', before !== after)
    testEnvironment.see('used again', await submit(client, flow, fields(email)))
    testEnvironment.see('read again', await client.ask(`/self-service/login/flows?id=${flow.id}`))
  },
  'signing up changes the cookie': async (testEnvironment) => {
    const client = testEnvironment.browser()
    const flow = await open(client, 'registration', 'browser')
    const body = { method: 'password', password, traits: { email: newEmail() } }
    await submit(client, flow, body)
    client.cookies.delete('ory_kratos_session')
    testEnvironment.see('used again', await submit(client, flow, body))
  },
  'signing out changes the cookie': async (testEnvironment) => {
    const client = await signInBrowser(testEnvironment, await makeUser(testEnvironment))
    const { json: logout } = await client.ask<{ logout_token: string }>('/self-service/logout/browser')
    const before = [...client.cookies].find(([name]) => name.startsWith('csrf'))?.[1]
    testEnvironment.see('answer', await client.ask(`/self-service/logout?token=${logout.logout_token}`))
    const after = [...client.cookies].find(([name]) => name.startsWith('csrf'))?.[1]
    testEnvironment.note('changed', before !== after)
  },
  'the csrf cookie is set only at the first visit': async ({ browser, see }) => {
    const client = browser()
    see('first', await client.ask('/self-service/login/browser'))
    see('second', await client.ask('/self-service/login/browser'))
  },
  'an API flow refuses cookies': refusedByApiFlows({ cookie: 'a=b' }),
  'an API flow refuses origins': refusedByApiFlows({ origin: consoleUrl }),
  'an API flow can be started with a cookie': async ({ browser, see }) => {
    for (const kind of ['login', 'registration', 'verification', 'recovery'] as const)
      see(kind, await browser({ cookie: 'a=b' }).ask(`/self-service/${kind}/api`))
  },
}

const addresses: Record<string, Scenario> = {
  'an error of a page is stored for the error page': async ({ browser, see }) => {
    const answer = await browser().page('/self-service/login/browser?aal=aal2')
    see('page', answer)
    const id = new URL(answer.location ?? '').searchParams.get('id')
    see('error', await browser().ask(`/self-service/errors?id=${id}`))
    see('error as a page', await browser().page(`/self-service/errors?id=${id}`))
  },
  'an unknown error is not found': async ({ browser, see }) => {
    for (const query of ['', '?id=', '?id=zz', `?id=${nobody}`, '?id=stub:500', '?id=stub:404'])
      see(query || 'none', await browser().ask(`/self-service/errors${query}`))
  },
  'health is shown to every client': async ({ browser, adminPort, see }) => {
    for (const path of ['/health/alive', '/health/ready']) {
      see(path, await browser().ask(path))
      see(`admin ${path}`, await adminPort().ask(`/admin${path}`))
    }
  },
  'the admin port redirects paths without its prefix': async ({ adminPort, see }) => {
    for (const path of ['/identities?page_size=1', '/sessions/whoami', '/version', '/health/alive', '/schemas'])
      see(path, await adminPort().ask(path))
  },
  'the version is shown only on the admin port': async ({ browser, adminPort, see }) => {
    see('public', await browser().ask('/version'))
    see('admin', await adminPort().ask('/admin/version'))
  },
  'the schema is found by its name and its encoded name': async ({ browser, see }) => {
    see('name', await browser().ask('/schemas/default'))
    see('encoded', await browser().ask('/schemas/ZGVmYXVsdA'))
    see('unknown', await browser().ask('/schemas/zz'))
  },
  'all schemas are listed': async ({ browser, see }) => {
    see('all', await browser().ask('/schemas'))
    see('past the end', await browser().ask('/schemas?page=5&per_page=10'))
    see('size', await browser().ask('/schemas?per_page=1'))
  },
  'the admin port shows the schemas too': async ({ adminPort, see }) => {
    see('all', await adminPort().ask('/admin/schemas'))
    see('one', await adminPort().ask('/admin/schemas/default'))
  },
  'the admin API does not exist on the public port': async ({ browser, see }) => {
    for (const path of ['/admin/identities', '/identities', '/admin/sessions', `/identities/${nobody}`])
      see(path, await browser().ask(path))
  },
  'an unknown path is not found': async ({ browser, adminPort, see }) => {
    see('public', await browser().ask('/nowhere'))
    see('below', await browser().ask('/self-service/nowhere'))
    see('admin', await adminPort().ask('/admin/nowhere'))
  },
  'a wrong method is refused with the list of allowed methods': async ({ browser, adminPort, see }) => {
    see('submit', await browser().ask('/self-service/login', { method: 'DELETE' }))
    see('init', await browser().ask('/self-service/login/api', { method: 'POST' }))
    see('logout', await browser().ask('/self-service/logout/api', { method: 'POST' }))
    see('admin', await adminPort().ask('/admin/identities', { method: 'DELETE' }))
    see('session', await adminPort().ask(`/admin/sessions/${nobody}`, { method: 'POST' }))
  },
  'HEAD is refused where GET is allowed': async ({ browser, see }) => {
    see('init', await browser().ask('/self-service/login/browser', { method: 'HEAD' }))
  },
  'OPTIONS lists the methods without CORS headers': async ({ browser, see }) => {
    const client = browser({ origin: 'http://evil.test', 'access-control-request-method': 'POST' })
    for (const path of ['/sessions', '/self-service/login', '/self-service/login/api', '/self-service/settings'])
      see(path, await client.ask(path, { method: 'OPTIONS' }))
  },
  'a trailing slash is redirected': async ({ browser, see }) => {
    see('init', await browser().ask('/self-service/login/browser/?a=b'))
    see('whoami', await browser().ask('/sessions/whoami/'))
  },
  'a GET of a submit address is refused': async ({ browser, see }) => {
    for (const kind of ['login', 'registration', 'settings'])
      see(kind, await browser().ask(`/self-service/${kind}?flow=${nobody}`))
  },
  'the script of the passkeys is served': async ({ browser, see, note }) => {
    const answer = await browser().ask('/.well-known/ory/webauthn.js')
    note('status', answer.status)
    note('type', answer.headers.get('content-type')?.split(';')[0])
    for (const name of ['oryWebAuthnLogin', 'oryWebAuthnRegistration', 'oryPasskeyLogin', 'oryPasskeyRegistration'])
      note(name, answer.text.includes(name))
    see('unknown', await browser().ask('/.well-known/ory/zz.js'))
  },
}

const sizes: Record<string, Scenario> = {
  'a password of ten thousand characters is answered like a wrong one': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { ...fields(email), password: 'x'.repeat(10_000) }),
    )
  },
  'a body of half a megabyte is refused': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    testEnvironment.see(
      'answer',
      await submit(testEnvironment.browser(), flow, { ...fields(email), password: 'x'.repeat(500_000) }),
    )
  },
  'a JSON submit of a page with an error is answered with JSON': async ({ browser, see }) => {
    const client = browser()
    const flow = await openPage(client, 'registration')
    const body = JSON.stringify({ csrf_token: getToken(flow), method: 'password', traits: {} })
    see('answer', await client.page(`/self-service/registration?flow=${flow.id}`, { body, headers: json }))
  },
}

function getToken(flow: Flow): string {
  const node = flow.ui.nodes.find(({ attributes }) => 'name' in attributes && attributes.name === 'csrf_token')
  return node && 'value' in node.attributes ? String(node.attributes.value) : ''
}

export const transport: Record<string, Scenario> = {
  ...Object.fromEntries(Object.entries(bodies).map(([name, scenario]) => [`a submit with ${name}`, scenario])),
  ...accepts,
  ...csrf,
  ...addresses,
  ...sizes,
}
