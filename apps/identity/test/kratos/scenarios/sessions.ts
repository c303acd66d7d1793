import type { LogoutFlow } from '@ory/kratos-client'
import { open, submit } from '../flows.ts'
import type { Scenario } from '../service.ts'
import { makeBrowserUser, makeSignedInUser, makeUser, nobody, signIn, signInBrowser } from '../users.ts'

const whoami: Record<string, Scenario> = {
  'whoami returns the user of an API client': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/sessions/whoami'))
  },
  'whoami returns the user of a browser': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await client.ask('/sessions/whoami'))
    testEnvironment.see('page', await client.page('/sessions/whoami'))
  },
  'whoami refuses a request without credentials': async ({ browser, see }) => {
    see('json', await browser().ask('/sessions/whoami'))
    see('page', await browser().page('/sessions/whoami'))
  },
  'whoami accepts any method': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('post', await client.ask('/sessions/whoami', { method: 'POST' }))
    testEnvironment.see('head', await client.ask('/sessions/whoami', { method: 'HEAD' }))
  },
  'a bearer token is accepted like the header': async (testEnvironment) => {
    const { token } = await makeSignedInUser(testEnvironment)
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      testEnvironment.see(
        scheme,
        await testEnvironment.browser({ authorization: `${scheme} ${token}` }).ask('/sessions/whoami'),
      )
    testEnvironment.see(
      'basic',
      await testEnvironment.browser({ authorization: `Basic ${token}` }).ask('/sessions/whoami'),
    )
  },
  'a valid cookie does not replace an invalid header': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const headers = { 'x-session-token': 'ory_st_zz' }
    testEnvironment.see('header', await client.ask('/sessions/whoami', { headers }))
    testEnvironment.see(
      'bearer',
      await client.ask('/sessions/whoami', { headers: { authorization: 'Bearer ory_st_zz' } }),
    )
  },
  'a token in any other place is ignored': async (testEnvironment) => {
    const { token } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('query', await testEnvironment.browser().ask(`/sessions/whoami?session_token=${token}`))
    testEnvironment.see('header', await testEnvironment.browser({ 'x-session-cookie': token }).ask('/sessions/whoami'))
  },
  'an expired session is refused': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    await testEnvironment.clock.expireSession(session.id)
    testEnvironment.see('answer', await client.ask('/sessions/whoami'))
  },
  'a disabled user has no session': async (testEnvironment) => {
    const { client, id } = await makeSignedInUser(testEnvironment)
    await testEnvironment.admin(`/identities/${id}`, 'PATCH', [{ op: 'replace', path: '/state', value: 'inactive' }])
    testEnvironment.see('answer', await client.ask('/sessions/whoami'))
    testEnvironment.see('list', await client.ask('/sessions'))
  },
  'a deleted user has no session': async (testEnvironment) => {
    const { client, id } = await makeSignedInUser(testEnvironment)
    await testEnvironment.admin(`/identities/${id}`, 'DELETE')
    testEnvironment.see('answer', await client.ask('/sessions/whoami'))
  },
  'an unknown template for a token is refused': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask('/sessions/whoami?tokenize_as=zz'))
    testEnvironment.see('empty', await client.ask('/sessions/whoami?tokenize_as='))
  },
  'an unknown code cannot be exchanged for a token': async ({ browser, see }) => {
    see('unknown', await browser().ask('/sessions/token-exchange?init_code=zz&return_to_code=zz'))
    see('missing', await browser().ask('/sessions/token-exchange'))
    see('one', await browser().ask('/sessions/token-exchange?init_code=zz'))
  },
  'an API flow may request a code to exchange': async (testEnvironment) => {
    const init = await testEnvironment.browser().ask('/self-service/login/api?return_session_token_exchange_code=true')
    testEnvironment.see('login', init)
    const registration = '/self-service/registration/api?return_session_token_exchange_code=true'
    testEnvironment.see('registration', await testEnvironment.browser().ask(registration))
    const { session_token_exchange_code: code } = init.json as { session_token_exchange_code?: string }
    testEnvironment.see(
      'too early',
      await testEnvironment.browser().ask(`/sessions/token-exchange?init_code=${code}&return_to_code=zz`),
    )
  },
}

const others: Record<string, Scenario> = {
  'the list contains only the other sessions': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    testEnvironment.see('none', await user.client.ask('/sessions'))
    const other = await signIn(testEnvironment, user)
    const answer = await user.client.ask<{ id: string }[]>('/sessions')
    testEnvironment.see('one', answer)
    testEnvironment.note('the other', answer.json[0]?.id === other.session.id)
  },
  'the list has pages': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    await signIn(testEnvironment, user)
    await signIn(testEnvironment, user)
    testEnvironment.see('first', await user.client.ask('/sessions?per_page=1&page=1'))
    testEnvironment.see('second', await user.client.ask('/sessions?per_page=1&page=2'))
    testEnvironment.see('past the end', await user.client.ask('/sessions?per_page=1&page=9'))
    testEnvironment.see('nonsense', await user.client.ask('/sessions?per_page=x'))
  },
  'a list without a session is refused': async ({ browser, see }) => {
    see('list', await browser().ask('/sessions'))
    see('end', await browser().ask('/sessions', { method: 'DELETE' }))
    see('end one', await browser().ask(`/sessions/${nobody}`, { method: 'DELETE' }))
  },
  'all others are ended at once': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    const other = await signIn(testEnvironment, user)
    testEnvironment.see('answer', await user.client.ask('/sessions', { method: 'DELETE' }))
    testEnvironment.see('other', await other.client.ask('/sessions/whoami'))
    testEnvironment.note('own', (await user.client.ask('/sessions/whoami')).status)
    testEnvironment.see('then', await user.client.ask('/sessions'))
  },
  'another session is ended': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    const other = await signIn(testEnvironment, user)
    const end = () => user.client.ask(`/sessions/${other.session.id}`, { method: 'DELETE' })
    testEnvironment.see('answer', await end())
    testEnvironment.see('again', await end())
    testEnvironment.see('other', await other.client.ask('/sessions/whoami'))
  },
  'the current session cannot be ended by its id': async (testEnvironment) => {
    const { client, session } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await client.ask(`/sessions/${session.id}`, { method: 'DELETE' }))
    testEnvironment.note('still there', (await client.ask('/sessions/whoami')).status)
  },
  'a session of another user cannot be ended': async (testEnvironment) => {
    const { client } = await makeSignedInUser(testEnvironment)
    const other = await makeSignedInUser(testEnvironment)
    testEnvironment.see('theirs', await client.ask(`/sessions/${other.session.id}`, { method: 'DELETE' }))
    testEnvironment.note('still there', (await other.client.ask('/sessions/whoami')).status)
    testEnvironment.see('of nobody', await client.ask(`/sessions/${nobody}`, { method: 'DELETE' }))
    testEnvironment.see('nonsense', await client.ask('/sessions/zz', { method: 'DELETE' }))
  },
  'a session contains its method and its device': async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: user.email, password: 'seven purple Otters 31' }
    const { json } = await submit(testEnvironment.browser({ 'user-agent': 'Scenario/1.0' }), flow, fields)
    const client = testEnvironment.browser({ 'x-session-token': json.session_token ?? '' })
    testEnvironment.see('answer', await client.ask('/sessions/whoami'))
  },
}

const signOut: Record<string, Scenario> = {
  'an API client signs out': async (testEnvironment) => {
    const { client, token } = await makeSignedInUser(testEnvironment)
    const out = (json: unknown) => testEnvironment.browser().ask('/self-service/logout/api', { method: 'DELETE', json })
    testEnvironment.see('answer', await out({ session_token: token, more: 1 }))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('again', await out({ session_token: token }))
  },
  'an API client signs out of an expired session': async (testEnvironment) => {
    const { token, session } = await makeSignedInUser(testEnvironment)
    await testEnvironment.clock.expireSession(session.id)
    const json = { session_token: token }
    testEnvironment.see(
      'answer',
      await testEnvironment.browser().ask('/self-service/logout/api', { method: 'DELETE', json }),
    )
  },
  'an API client cannot sign out without a session': async ({ browser, see }) => {
    const out = (ask: object) => browser().ask('/self-service/logout/api', { method: 'DELETE', ...ask })
    see('unknown', await out({ json: { session_token: 'ory_st_zz' } }))
    see('missing', await out({ json: {} }))
    see('empty', await out({}))
    see('broken', await out({ body: '{"a', headers: { 'content-type': 'application/json' } }))
  },
  'a browser requests the address to sign out': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    testEnvironment.see('json', await client.ask('/self-service/logout/browser'))
    testEnvironment.see('page', await client.page('/self-service/logout/browser'))
    testEnvironment.see('return_to', await client.ask('/self-service/logout/browser?return_to=/bye'))
    testEnvironment.see('elsewhere', await client.ask('/self-service/logout/browser?return_to=http://evil.test'))
  },
  'a browser without a session gets no address to sign out': async ({ browser, see }) => {
    see('json', await browser().ask('/self-service/logout/browser'))
    see('page', await browser().page('/self-service/logout/browser'))
  },
  'a single-page application signs out': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    testEnvironment.see('answer', await client.ask(`/self-service/logout?token=${json.logout_token}`))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('again', await client.ask(`/self-service/logout?token=${json.logout_token}`))
  },
  'a page signs out': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    testEnvironment.see('answer', await client.page(`/self-service/logout?token=${json.logout_token}`))
    testEnvironment.see('again', await client.page(`/self-service/logout?token=${json.logout_token}`))
  },
  'a page signs out and continues at return_to': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser?return_to=/bye')
    const { pathname, search } = new URL(json.logout_url)
    testEnvironment.see('answer', await client.page(`${pathname.replace('/kratos', '')}${search}`))
  },
  'a page cannot continue at another site after signing out': async (testEnvironment) => {
    const { client } = await makeBrowserUser(testEnvironment)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    const path = `/self-service/logout?token=${json.logout_token}&return_to=http://evil.test`
    testEnvironment.see('answer', await client.page(path))
    testEnvironment.note('signed out', (await client.ask('/sessions/whoami')).status)
  },
  'a wrong token does not sign out': async (testEnvironment) => {
    const client = await signInBrowser(testEnvironment, await makeUser(testEnvironment))
    testEnvironment.see('wrong', await client.ask('/self-service/logout?token=zz'))
    testEnvironment.see('missing', await client.ask('/self-service/logout'))
    testEnvironment.see('page', await client.page('/self-service/logout?token=zz'))
    testEnvironment.note('still there', (await client.ask('/sessions/whoami')).status)
  },
  "another session's token does not sign out": async (testEnvironment) => {
    const user = await makeUser(testEnvironment)
    const first = await signInBrowser(testEnvironment, user)
    const second = await signInBrowser(testEnvironment, user)
    const { json } = await first.ask<LogoutFlow>('/self-service/logout/browser')
    testEnvironment.see('answer', await second.ask(`/self-service/logout?token=${json.logout_token}`))
  },
}

export const sessions: Record<string, Scenario> = { ...whoami, ...others, ...signOut }
