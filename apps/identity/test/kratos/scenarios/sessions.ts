import type { LogoutFlow } from '@ory/kratos-client'
import { open, submit } from '../flows.ts'
import { makeBrowserPerson, makePerson, makeSignedPerson, nobody, signIn, signInBrowser } from '../people.ts'
import type { Scenario } from '../world.ts'

const whoami: Record<string, Scenario> = {
  'whoami tells an API client who it is': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('answer', await client.ask('/sessions/whoami'))
  },
  'whoami tells a browser who it is': async (world) => {
    const { client } = await makeBrowserPerson(world)
    world.see('json', await client.ask('/sessions/whoami'))
    world.see('page', await client.page('/sessions/whoami'))
  },
  'whoami without credentials': async ({ browser, see }) => {
    see('json', await browser().ask('/sessions/whoami'))
    see('page', await browser().page('/sessions/whoami'))
  },
  'whoami takes any method': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('post', await client.ask('/sessions/whoami', { method: 'POST' }))
    world.see('head', await client.ask('/sessions/whoami', { method: 'HEAD' }))
  },
  'a bearer token is as good as the header': async (world) => {
    const { token } = await makeSignedPerson(world)
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      world.see(scheme, await world.browser({ authorization: `${scheme} ${token}` }).ask('/sessions/whoami'))
    world.see('basic', await world.browser({ authorization: `Basic ${token}` }).ask('/sessions/whoami'))
  },
  'a bad header is not healed by a good cookie': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const headers = { 'x-session-token': 'ory_st_zz' }
    world.see('header', await client.ask('/sessions/whoami', { headers }))
    world.see('bearer', await client.ask('/sessions/whoami', { headers: { authorization: 'Bearer ory_st_zz' } }))
  },
  'a token elsewhere does nothing': async (world) => {
    const { token } = await makeSignedPerson(world)
    world.see('query', await world.browser().ask(`/sessions/whoami?session_token=${token}`))
    world.see('header', await world.browser({ 'x-session-cookie': token }).ask('/sessions/whoami'))
  },
  'a session that has run out is none': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    await world.clock.expireSession(session.id)
    world.see('answer', await client.ask('/sessions/whoami'))
  },
  'a disabled person has no session': async (world) => {
    const { client, id } = await makeSignedPerson(world)
    await world.admin(`/identities/${id}`, 'PATCH', [{ op: 'replace', path: '/state', value: 'inactive' }])
    world.see('answer', await client.ask('/sessions/whoami'))
    world.see('list', await client.ask('/sessions'))
  },
  'a deleted person has no session': async (world) => {
    const { client, id } = await makeSignedPerson(world)
    await world.admin(`/identities/${id}`, 'DELETE')
    world.see('answer', await client.ask('/sessions/whoami'))
  },
  'an unknown template for a token is refused': async (world) => {
    const { client } = await makeSignedPerson(world)
    world.see('answer', await client.ask('/sessions/whoami?tokenize_as=zz'))
    world.see('empty', await client.ask('/sessions/whoami?tokenize_as='))
  },
  'nothing waits to be exchanged for a token': async ({ browser, see }) => {
    see('unknown', await browser().ask('/sessions/token-exchange?init_code=zz&return_to_code=zz'))
    see('missing', await browser().ask('/sessions/token-exchange'))
    see('one', await browser().ask('/sessions/token-exchange?init_code=zz'))
  },
  'an API flow may ask for a code to exchange': async (world) => {
    const init = await world.browser().ask('/self-service/login/api?return_session_token_exchange_code=true')
    world.see('login', init)
    const registration = '/self-service/registration/api?return_session_token_exchange_code=true'
    world.see('registration', await world.browser().ask(registration))
    const { session_token_exchange_code: code } = init.json as { session_token_exchange_code?: string }
    world.see('too early', await world.browser().ask(`/sessions/token-exchange?init_code=${code}&return_to_code=zz`))
  },
}

const others: Record<string, Scenario> = {
  'the list holds the others only': async (world) => {
    const person = await makeSignedPerson(world)
    world.see('none', await person.client.ask('/sessions'))
    const other = await signIn(world, person)
    const answer = await person.client.ask<{ id: string }[]>('/sessions')
    world.see('one', answer)
    world.note('the other', answer.json[0]?.id === other.session.id)
  },
  'the list has pages': async (world) => {
    const person = await makeSignedPerson(world)
    await signIn(world, person)
    await signIn(world, person)
    world.see('first', await person.client.ask('/sessions?per_page=1&page=1'))
    world.see('second', await person.client.ask('/sessions?per_page=1&page=2'))
    world.see('past the end', await person.client.ask('/sessions?per_page=1&page=9'))
    world.see('nonsense', await person.client.ask('/sessions?per_page=x'))
  },
  'a list of nobody is refused': async ({ browser, see }) => {
    see('list', await browser().ask('/sessions'))
    see('end', await browser().ask('/sessions', { method: 'DELETE' }))
    see('end one', await browser().ask(`/sessions/${nobody}`, { method: 'DELETE' }))
  },
  'all others are ended at once': async (world) => {
    const person = await makeSignedPerson(world)
    const other = await signIn(world, person)
    world.see('answer', await person.client.ask('/sessions', { method: 'DELETE' }))
    world.see('other', await other.client.ask('/sessions/whoami'))
    world.note('own', (await person.client.ask('/sessions/whoami')).status)
    world.see('then', await person.client.ask('/sessions'))
  },
  'another session is ended': async (world) => {
    const person = await makeSignedPerson(world)
    const other = await signIn(world, person)
    const end = () => person.client.ask(`/sessions/${other.session.id}`, { method: 'DELETE' })
    world.see('answer', await end())
    world.see('again', await end())
    world.see('other', await other.client.ask('/sessions/whoami'))
  },
  'the current session is not ended that way': async (world) => {
    const { client, session } = await makeSignedPerson(world)
    world.see('answer', await client.ask(`/sessions/${session.id}`, { method: 'DELETE' }))
    world.note('still there', (await client.ask('/sessions/whoami')).status)
  },
  "somebody else's session lives on": async (world) => {
    const { client } = await makeSignedPerson(world)
    const other = await makeSignedPerson(world)
    world.see('theirs', await client.ask(`/sessions/${other.session.id}`, { method: 'DELETE' }))
    world.note('still there', (await other.client.ask('/sessions/whoami')).status)
    world.see('of nobody', await client.ask(`/sessions/${nobody}`, { method: 'DELETE' }))
    world.see('nonsense', await client.ask('/sessions/zz', { method: 'DELETE' }))
  },
  'a session knows how and where it began': async (world) => {
    const person = await makePerson(world)
    const flow = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: person.email, password: 'seven purple Otters 31' }
    const { json } = await submit(world.browser({ 'user-agent': 'Scenario/1.0' }), flow, fields)
    const client = world.browser({ 'x-session-token': json.session_token ?? '' })
    world.see('answer', await client.ask('/sessions/whoami'))
  },
}

const signOut: Record<string, Scenario> = {
  'an API client signs out': async (world) => {
    const { client, token } = await makeSignedPerson(world)
    const out = (json: unknown) => world.browser().ask('/self-service/logout/api', { method: 'DELETE', json })
    world.see('answer', await out({ session_token: token, more: 1 }))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('again', await out({ session_token: token }))
  },
  'an API client signs out of a session that has run out': async (world) => {
    const { token, session } = await makeSignedPerson(world)
    await world.clock.expireSession(session.id)
    const json = { session_token: token }
    world.see('answer', await world.browser().ask('/self-service/logout/api', { method: 'DELETE', json }))
  },
  'an API client signs out of nothing': async ({ browser, see }) => {
    const out = (ask: object) => browser().ask('/self-service/logout/api', { method: 'DELETE', ...ask })
    see('unknown', await out({ json: { session_token: 'ory_st_zz' } }))
    see('missing', await out({ json: {} }))
    see('empty', await out({}))
    see('broken', await out({ body: '{"a', headers: { 'content-type': 'application/json' } }))
  },
  'a browser asks how to sign out': async (world) => {
    const { client } = await makeBrowserPerson(world)
    world.see('json', await client.ask('/self-service/logout/browser'))
    world.see('page', await client.page('/self-service/logout/browser'))
    world.see('return_to', await client.ask('/self-service/logout/browser?return_to=/bye'))
    world.see('elsewhere', await client.ask('/self-service/logout/browser?return_to=http://evil.test'))
  },
  'nobody asks how to sign out': async ({ browser, see }) => {
    see('json', await browser().ask('/self-service/logout/browser'))
    see('page', await browser().page('/self-service/logout/browser'))
  },
  'a single-page application signs out': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    world.see('answer', await client.ask(`/self-service/logout?token=${json.logout_token}`))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('again', await client.ask(`/self-service/logout?token=${json.logout_token}`))
  },
  'a page signs out': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    world.see('answer', await client.page(`/self-service/logout?token=${json.logout_token}`))
    world.see('again', await client.page(`/self-service/logout?token=${json.logout_token}`))
  },
  'a page signs out and goes where it wants': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser?return_to=/bye')
    const { pathname, search } = new URL(json.logout_url)
    world.see('answer', await client.page(`${pathname.replace('/kratos', '')}${search}`))
  },
  'a page signs out and does not go elsewhere': async (world) => {
    const { client } = await makeBrowserPerson(world)
    const { json } = await client.ask<LogoutFlow>('/self-service/logout/browser')
    const path = `/self-service/logout?token=${json.logout_token}&return_to=http://evil.test`
    world.see('answer', await client.page(path))
    world.note('signed out', (await client.ask('/sessions/whoami')).status)
  },
  'a wrong token does not sign out': async (world) => {
    const client = await signInBrowser(world, await makePerson(world))
    world.see('wrong', await client.ask('/self-service/logout?token=zz'))
    world.see('missing', await client.ask('/self-service/logout'))
    world.see('page', await client.page('/self-service/logout?token=zz'))
    world.note('still there', (await client.ask('/sessions/whoami')).status)
  },
  "another session's token does not sign out": async (world) => {
    const person = await makePerson(world)
    const first = await signInBrowser(world, person)
    const second = await signInBrowser(world, person)
    const { json } = await first.ask<LogoutFlow>('/self-service/logout/browser')
    world.see('answer', await second.ask(`/self-service/logout?token=${json.logout_token}`))
  },
}

export const sessions: Record<string, Scenario> = { ...whoami, ...others, ...signOut }
