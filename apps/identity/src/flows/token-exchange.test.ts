import { followRedirects, type OidcServer, oidcClient, startOidcServer } from '@crux/test-kit'
import type { LoginFlow, Session } from '@ory/kratos-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { consoleUrl, makeEmail, startTestIdentity, type TestIdentity } from '../../test/identity.ts'

const publicUrl = `${consoleUrl}/kratos`

let server: OidcServer
let identity: TestIdentity
beforeAll(async () => {
  server = await startOidcServer([`${publicUrl}/self-service/methods/oidc/callback/corp`])
  const corp = { id: 'corp', label: 'Corp', issuer: server.issuer, ...oidcClient }
  identity = await startTestIdentity({ OIDC_PROVIDERS: JSON.stringify([corp]) })
})
afterAll(async () => {
  await identity.stop()
  await server.close()
})

interface Exchanged {
  session_token: string
  session: Session
}

const exchange = (initCode = '', returnToCode = '') =>
  identity
    .browser()
    .ask<Exchanged>(
      `/sessions/token-exchange?${new URLSearchParams({ init_code: initCode, return_to_code: returnToCode })}`,
    )

/** Acts as a native app: starts a flow, opens a browser at the provider, and gets a code in the return address. */
async function signInElsewhere(kind: 'login' | 'registration') {
  server.account = {
    sub: `native-${kind}`,
    email: makeEmail(),
    email_verified: true,
    given_name: 'Ada',
    family_name: 'Byron',
  }
  const app = identity.browser()
  const init = await app.ask<LoginFlow & { session_token_exchange_code: string }>(
    `/self-service/${kind}/api?return_session_token_exchange_code=true&return_to=/signed-in`,
  )
  const { id, session_token_exchange_code: initCode } = init.json
  const left = await identity.browser().ask<{ redirect_browser_to: string }>(`/self-service/${kind}?flow=${id}`, {
    json: { method: 'oidc', provider: 'corp' },
  })
  expect(left.status).toBe(422)
  const early = await exchange(initCode, 'a guess')
  const back = await followRedirects(left.json.redirect_browser_to, publicUrl)
  const browser = identity.browser()
  const arrived = await browser.page(back.slice(publicUrl.length))
  const target = new URL(arrived.location ?? '')
  return { id, initCode, early, browser, target, returnToCode: target.searchParams.get('code') ?? '' }
}

it('token exchange gives a native app the session that a browser obtained at a provider, once', async () => {
  const { initCode, early, browser, target, returnToCode } = await signInElsewhere('login')
  expect(early.status).toBe(404)
  expect(`${target.origin}${target.pathname}`).toBe(`${consoleUrl}/signed-in`)
  expect(browser.sessionCookie, 'the browser is not signed in').toBeUndefined()

  const { status, json } = await exchange(initCode, returnToCode)
  expect(status).toBe(200)
  expect(json.session.authentication_methods).toMatchObject([{ method: 'oidc', aal: 'aal1' }])
  const { data: session } = await identity.frontend.toSession({ xSessionToken: json.session_token })
  expect(session.identity?.traits).toMatchObject({ email: server.account.email })
  expect((await exchange(initCode, returnToCode)).status).toBe(404)
})

it('token exchange signs up for a native app in the same way', async () => {
  const { initCode, returnToCode } = await signInElsewhere('registration')
  expect((await exchange(initCode, returnToCode)).status).toBe(200)
})

it('token exchange gives no session to a client with only one of the codes', async () => {
  const { initCode, returnToCode } = await signInElsewhere('login')
  const other = await signInElsewhere('login')
  expect((await exchange(initCode, other.returnToCode)).status).toBe(404)
  expect((await exchange(other.initCode, returnToCode)).status).toBe(404)
  expect((await exchange(initCode, '')).status).toBe(400)
  expect((await exchange('', returnToCode)).status).toBe(400)
  expect((await exchange(initCode, returnToCode)).status).toBe(200)
})

it('token exchange stores neither code in clear text, and gives no session after the flow expired', async () => {
  const { id, initCode, returnToCode } = await signInElsewhere('login')
  const rows = await identity.sql('select * from identity.token_exchanges where flow_id = $1', [id])
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(initCode)
  expect(JSON.stringify(rows)).not.toContain(returnToCode)
  await identity.sql(`update identity.flows set expires_at = now() - interval '1 second' where id = $1`, [id])
  expect((await exchange(initCode, returnToCode)).status).toBe(404)
})

it('token exchange offers no provider to an API client that did not request a code', async () => {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  expect(flow.ui.nodes.some(({ group }) => group === 'oidc')).toBe(false)
  const answer = await identity.browser().ask(`/self-service/login?flow=${flow.id}`, {
    json: { method: 'oidc', provider: 'corp' },
  })
  expect(answer.status).toBe(400)
})

it('token exchange gives no session of a user who was disabled in the meantime', async () => {
  const { initCode, returnToCode } = await signInElsewhere('login')
  await identity.sql(`update identity.identities set state = 'inactive'`)
  expect((await exchange(initCode, returnToCode)).status).toBe(404)
  await identity.sql(`update identity.identities set state = 'active'`)
})
