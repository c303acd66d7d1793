import type { Identity, Session } from '@ory/kratos-client'
import { open, submit } from '../flows.ts'
import { importedPasswords } from '../imported-passwords.ts'
import { makePerson, makeSignedPerson, names, newEmail, nobody, password, signIn } from '../people.ts'
import type { Scenario } from '../world.ts'

const create: Record<string, Scenario> = {
  'an identity is made with its traits': async ({ admin, see }) => {
    see('answer', await admin('/identities', 'POST', { traits: { email: newEmail() } }))
  },
  'an identity is made with everything': async ({ admin, see }) => {
    const email = newEmail()
    const body = {
      schema_id: 'default',
      traits: { email, name: names },
      state: 'inactive',
      metadata_public: { a: 1 },
      metadata_admin: { b: [2] },
      credentials: { password: { config: { password: 'short' } } },
      verifiable_addresses: [{ value: email.toLowerCase(), verified: true, via: 'email', status: 'completed' }],
    }
    see('answer', await admin('/identities', 'POST', body))
  },
  'the location names the identity': async ({ admin, note }) => {
    const made = await admin<Identity>('/identities', 'POST', { traits: { email: newEmail() } })
    note('ends with the id', made.location?.endsWith(`/identities/${made.json.id}`))
  },
  'a taken address is refused': async (world) => {
    const { email } = await makePerson(world)
    world.see('answer', await world.admin('/identities', 'POST', { traits: { email } }))
    world.see('capitals', await world.admin('/identities', 'POST', { traits: { email: email.toUpperCase() } }))
  },
  'an imported address need not be one of the traits': async ({ admin, see }) => {
    const addresses = [{ value: newEmail().toLowerCase(), verified: true, via: 'email', status: 'completed' }]
    const body = { traits: { email: newEmail() }, verifiable_addresses: addresses }
    see('answer', await admin('/identities', 'POST', body))
  },
  ...Object.fromEntries(
    Object.entries<unknown>({
      'an id': { traits: {}, id: nobody },
      'an unknown field': { traits: {}, zap: 1 },
      'an unknown schema': { traits: {}, schema_id: 'zz' },
      'an unknown state': { traits: {}, state: 'zz' },
      'no traits': { traits: undefined },
      'a list': [],
      'a text as traits': { traits: 'ada' },
    }).map(([name, change]): [string, Scenario] => [
      `${name} is refused`,
      async ({ admin, see }) => {
        const isPlain = typeof change === 'object' && change !== null && !Array.isArray(change)
        const given = isPlain ? (change as { traits?: unknown }) : undefined
        const traits = given && typeof given.traits === 'object' ? { email: newEmail() } : given?.traits
        see('answer', await admin('/identities', 'POST', given ? { ...given, traits } : change))
      },
    ]),
  ),
  'bad traits are refused': async ({ admin, see }) => {
    see('missing', await admin('/identities', 'POST', { traits: {} }))
    see('format', await admin('/identities', 'POST', { traits: { email: 'ada' } }))
    see('unknown', await admin('/identities', 'POST', { traits: { email: newEmail(), zap: 1 } }))
    see('type', await admin('/identities', 'POST', { traits: { email: 5 } }))
  },
  'a body that is no JSON is refused': async ({ adminPort, see }) => {
    const headers = { 'content-type': 'application/json' }
    see('broken', await adminPort().ask('/admin/identities', { body: '{"a', headers }))
    see('empty', await adminPort().ask('/admin/identities', { method: 'POST' }))
  },
}

const read: Record<string, Scenario> = {
  'an identity is read': async (world) => {
    const { id } = await makePerson(world)
    world.see('answer', await world.admin(`/identities/${id}`))
    world.see('unknown', await world.admin(`/identities/${nobody}`))
    world.see('nonsense', await world.admin('/identities/zz'))
  },
  'an identity without a password is read': async ({ admin, see }) => {
    const { json } = await admin<Identity>('/identities', 'POST', { traits: { email: newEmail() } })
    see('answer', await admin(`/identities/${json.id}`))
  },
  'a credential is asked for': async (world) => {
    const { id } = await makePerson(world)
    world.see('password', await world.admin(`/identities/${id}?include_credential=password`))
    world.see('oidc', await world.admin(`/identities/${id}?include_credential=oidc`))
    world.see('unknown', await world.admin(`/identities/${id}?include_credential=zz`))
  },
  'identities are found by identifier': async (world) => {
    const { email } = await makePerson(world)
    const find = (text: string) => world.admin(`/identities?credentials_identifier=${encodeURIComponent(text)}`)
    world.see('lower', await find(email.toLowerCase()))
    world.see('upper', await find(email.toUpperCase()))
    world.see('part', await find(email.slice(0, 20)))
    world.see('unknown', await find('nobody@example.com'))
  },
  'identities are found by a part of the identifier': async (world) => {
    const { email } = await makePerson(world)
    const part = email.toLowerCase().slice(0, 19)
    world.see('answer', await world.admin(`/identities?preview_credentials_identifier_similar=${part}`))
    const both = `preview_credentials_identifier_similar=${part}&credentials_identifier=${part}`
    world.see('both', await world.admin(`/identities?${both}`))
  },
  'identities are found by ids': async (world) => {
    const { id } = await makePerson(world)
    const other = await makePerson(world)
    world.see('one', await world.admin(`/identities?ids=${id}&ids=${nobody}`))
    const { json } = await world.admin<Identity[]>(`/identities?ids=${id}&ids=${other.id}`)
    world.note('two', json.length)
    world.see('nonsense', await world.admin('/identities?ids=zz'))
  },
  'identities have pages': async (world) => {
    await makePerson(world)
    await makePerson(world)
    const first = await world.admin<unknown[]>('/identities?page_size=1')
    world.note('size', first.json.length)
    const next = /<([^>]+)>; ?rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
    world.note('next', next?.replace(/page_token=.*/, 'page_token='))
    const second = await world.adminPort().ask<Identity[]>(next ?? '')
    world.note('second size', second.json.length)
    world.note('another', JSON.stringify(first.json) !== JSON.stringify(second.json))
    world.note('total', first.headers.get('x-total-count'))
  },
  'identities have numbered pages': async (world) => {
    await makePerson(world)
    await makePerson(world)
    const page = await world.admin<unknown[]>('/identities?per_page=1&page=1')
    world.note('size', page.json.length)
    world.note('total', page.headers.has('x-total-count'))
    const rels = [...(page.headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel)
    world.note('links', rels.sort())
  },
  'a page of no size has the default size': async ({ admin, note }) => {
    for (const query of ['', '?page_size=0', '?page_size=5000']) {
      const { headers } = await admin(`/identities${query}`)
      note(query || 'none', /page_size=(\d+)/.exec(headers.get('link') ?? '')?.[1])
    }
  },
  'nonsense about pages is refused': async ({ admin, see }) => {
    for (const query of ['page_size=x', 'page_token=x']) see(query, await admin(`/identities?${query}`))
  },
}

const change: Record<string, Scenario> = {
  'an identity is replaced': async (world) => {
    const { id } = await makePerson(world, { metadata_public: { a: 1 }, metadata_admin: { b: 2 } })
    const body = { schema_id: 'default', state: 'active', traits: { email: newEmail() } }
    world.see('answer', await world.admin(`/identities/${id}`, 'PUT', body))
    world.see('read', await world.admin(`/identities/${id}`))
  },
  'a replacement keeps state and password': async (world) => {
    const { id, email } = await makePerson(world, { state: 'inactive' })
    world.see('answer', await world.admin(`/identities/${id}`, 'PUT', { traits: { email, name: {} } }))
    await world.admin(`/identities/${id}`, 'PATCH', [{ op: 'replace', path: '/state', value: 'active' }])
    const flow = await open(world.browser(), 'login', 'api')
    const done = await submit(world.browser(), flow, { method: 'password', identifier: email, password })
    world.note('signed in', done.status)
  },
  'a replacement sets a password': async (world) => {
    const { id, email } = await makePerson(world)
    const next = 'ten green Badgers 77'
    const body = { traits: { email }, state: 'active', schema_id: 'default' }
    const credentials = { password: { config: { password: next } } }
    world.see('answer', await world.admin(`/identities/${id}`, 'PUT', { ...body, credentials }))
    const flow = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email }
    world.note('former', (await submit(world.browser(), flow, { ...fields, password })).status)
    world.note('new', (await submit(world.browser(), flow, { ...fields, password: next })).status)
  },
  'a bad replacement is refused': async (world) => {
    const { id } = await makePerson(world)
    const taken = await makePerson(world)
    const put = (body: unknown, whose = id) => world.admin(`/identities/${whose}`, 'PUT', body)
    world.see('no traits', await put({ schema_id: 'default', state: 'active' }))
    world.see('bad traits', await put({ traits: { email: 'ada' } }))
    world.see('taken', await put({ traits: { email: taken.email } }))
    world.see('state', await put({ traits: { email: newEmail() }, state: 'zz' }))
    world.see('unknown field', await put({ traits: { email: newEmail() }, id: nobody }))
    world.see('unknown', await put({ traits: { email: newEmail() } }, nobody))
    world.see('nonsense', await put({ traits: { email: newEmail() } }, 'zz'))
  },
  'an identity is patched': async (world) => {
    const { id } = await makePerson(world)
    const patch = (op: string, path: string, value?: unknown) =>
      world.admin(`/identities/${id}`, 'PATCH', [{ op, path, value }])
    world.see('trait', await patch('replace', '/traits/name/first', 'Grace'))
    world.see('state', await patch('replace', '/state', 'inactive'))
    world.see('below nothing', await patch('add', '/metadata_admin/x/y', 3))
    world.see('public', await patch('add', '/metadata_public', { a: 1 }))
    world.see('removed', await patch('remove', '/metadata_public/a'))
    world.see('nothing there', await patch('remove', '/metadata_public/zz'))
    world.see('read', await world.admin(`/identities/${id}`))
  },
  'what must not be patched is not': async (world) => {
    const { id } = await makePerson(world)
    const taken = await makePerson(world)
    const patch = (op: string, path: string, value?: unknown) =>
      world.admin(`/identities/${id}`, 'PATCH', [{ op, path, value }])
    world.see('id', await patch('replace', '/id', nobody))
    world.see('credentials', await patch('replace', '/credentials', {}))
    world.see('below credentials', await patch('replace', '/credentials/password', {}))
    world.see('schema_url', await patch('replace', '/schema_url', 'http://evil.test'))
    world.see('state_changed_at', await patch('replace', '/state_changed_at', '2020-01-01T00:00:00Z'))
    world.see('unknown', await patch('add', '/zap', 1))
    world.see('test', await patch('test', '/state', 'active'))
    world.see('operation', await patch('zap', '/state', 'active'))
    world.see('state', await patch('replace', '/state', 'zz'))
    world.see('traits', await patch('replace', '/traits', {}))
    world.see('taken', await patch('replace', '/traits/email', taken.email))
  },
  'a patch that is none is refused': async (world) => {
    const { id } = await makePerson(world)
    world.see('object', await world.admin(`/identities/${id}`, 'PATCH', {}))
    world.see('empty', await world.admin(`/identities/${id}`, 'PATCH', []))
    world.see('of nobody', await world.admin(`/identities/${nobody}`, 'PATCH', []))
    world.see('nonsense', await world.admin('/identities/zz', 'PATCH', []))
    const body = JSON.stringify([{ op: 'replace', path: '/state', value: 'active' }])
    const headers = { 'content-type': 'text/plain' }
    world.see('any type', await world.adminPort().ask(`/admin/identities/${id}`, { method: 'PATCH', body, headers }))
  },
  'a patched address must be verified': async (world) => {
    const { id } = await makePerson(world)
    const operation = { op: 'replace', path: '/traits/email', value: newEmail() }
    world.see('answer', await world.admin(`/identities/${id}`, 'PATCH', [operation]))
  },
  'an identity is deleted': async (world) => {
    const { id } = await makePerson(world)
    world.see('answer', await world.admin(`/identities/${id}`, 'DELETE'))
    world.see('again', await world.admin(`/identities/${id}`, 'DELETE'))
    world.see('nonsense', await world.admin('/identities/zz', 'DELETE'))
  },
  'first factors are not taken away': async (world) => {
    const { id } = await makePerson(world)
    const remove = (type: string, whose = id) => world.admin(`/identities/${whose}/credentials/${type}`, 'DELETE')
    for (const type of ['password', 'code', 'totp', 'lookup_secret', 'webauthn', 'passkey', 'oidc', 'zz'])
      world.see(type, await remove(type))
    world.see('of nobody', await remove('totp', nobody))
  },
}

interface Batch {
  identities: { action: string; identity?: string; patch_id?: string }[]
}

const batch: Record<string, Scenario> = {
  'several identities are made at once': async ({ admin, see }) => {
    const identities = [1, 2].map((n) => ({
      create: { traits: { email: newEmail() } },
      patch_id: `${nobody.slice(0, -1)}${n}`,
    }))
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'one that conflicts does not stop the others': async (world) => {
    const { email } = await makePerson(world)
    const identities = [email, newEmail()].map((address) => ({ create: { traits: { email: address } } }))
    const answer = await world.admin<Batch>('/identities', 'PATCH', { identities })
    world.see('answer', answer)
    const made = answer.json.identities.find(({ action }) => action === 'create')
    world.see('read', await world.admin(`/identities/${made?.identity}`))
  },
  'one that is wrong is told': async ({ admin, see }) => {
    const identities = [{ create: { traits: { email: 'ada' } } }, { create: { traits: { email: newEmail() } } }]
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'two alike conflict with each other': async ({ admin, see }) => {
    const email = newEmail()
    const identities = [{ create: { traits: { email } } }, { create: { traits: { email } } }]
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'they may bring passwords': async (world) => {
    const email = newEmail()
    const credentials = { password: { config: { password } } }
    const verified = [{ value: email.toLowerCase(), verified: true, via: 'email', status: 'completed' }]
    const create = { traits: { email }, credentials, verifiable_addresses: verified }
    world.see('answer', await world.admin('/identities', 'PATCH', { identities: [{ create }] }))
    const flow = await open(world.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email, password }
    world.note('signed in', (await submit(world.browser(), flow, fields)).status)
  },
  'none at all': async ({ admin, see }) => {
    see('empty', await admin('/identities', 'PATCH', { identities: [] }))
    see('missing', await admin('/identities', 'PATCH', {}))
    see('nothing', await admin('/identities', 'PATCH', { identities: [{}] }))
    see('null', await admin('/identities', 'PATCH', { identities: [{ create: null }] }))
    see('a list', await admin('/identities', 'PATCH', []))
  },
}

const imports: Record<string, Scenario> = {
  ...Object.fromEntries(
    Object.entries(importedPasswords).map(([name, hash]): [string, Scenario] => [
      `a password hashed with ${name} signs in`,
      async (world) => {
        const person = await makePerson(world, { credentials: { password: { config: { hashed_password: hash } } } })
        const flow = await open(world.browser(), 'login', 'api')
        const fields = { method: 'password', identifier: person.email, password }
        const wrong = await submit(world.browser(), flow, { ...fields, password: 'not my password' })
        world.note('wrong', wrong.status)
        world.note('right', (await submit(world.browser(), flow, fields)).status)
        world.note('again', (await submit(world.browser(), flow, fields)).status)
      },
    ]),
  ),
  'rubbish is no hash': async ({ admin, see }) => {
    for (const hash of ['zz', '$2a$zz', '$argon2id$zz', '$pbkdf2-sha256$zz', '$scrypt$zz', '{SSHA}', '$zz$a$b']) {
      const credentials = { password: { config: { hashed_password: hash } } }
      see(hash, await admin('/identities', 'POST', { traits: { email: newEmail() }, credentials }))
    }
  },
}

const sessionsOfAdmins: Record<string, Scenario> = {
  'the sessions of an identity are listed': async (world) => {
    const person = await makeSignedPerson(world)
    await signIn(world, person)
    world.see('all', await world.admin(`/identities/${person.id}/sessions`))
    world.see('page', await world.admin(`/identities/${person.id}/sessions?page_size=1`))
    world.see('active', await world.admin(`/identities/${person.id}/sessions?active=true`))
    world.see('ended', await world.admin(`/identities/${person.id}/sessions?active=false`))
    world.see('of nobody', await world.admin(`/identities/${nobody}/sessions`))
    world.see('nonsense', await world.admin('/identities/zz/sessions'))
    world.see('active nonsense', await world.admin(`/identities/${person.id}/sessions?active=zz`))
  },
  'all sessions of an identity are deleted': async (world) => {
    const { id, client } = await makeSignedPerson(world)
    world.see('answer', await world.admin(`/identities/${id}/sessions`, 'DELETE'))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('again', await world.admin(`/identities/${id}/sessions`, 'DELETE'))
    world.see('nonsense', await world.admin('/identities/zz/sessions', 'DELETE'))
  },
  'a session is read': async (world) => {
    const { session } = await makeSignedPerson(world)
    world.see('bare', await world.admin(`/sessions/${session.id}`))
    world.see('identity', await world.admin(`/sessions/${session.id}?expand=Identity`))
    world.see('devices', await world.admin(`/sessions/${session.id}?expand=Devices`))
    world.see('both', await world.admin(`/sessions/${session.id}?expand=Identity&expand=Devices`))
    world.see('zz', await world.admin(`/sessions/${session.id}?expand=zz`))
    world.see('unknown', await world.admin(`/sessions/${nobody}`))
    world.see('nonsense', await world.admin('/sessions/zz'))
  },
  'a session is ended': async (world) => {
    const { session, client } = await makeSignedPerson(world)
    world.see('answer', await world.admin(`/sessions/${session.id}`, 'DELETE'))
    world.see('whoami', await client.ask('/sessions/whoami'))
    world.see('again', await world.admin(`/sessions/${session.id}`, 'DELETE'))
    world.see('read', await world.admin(`/sessions/${session.id}`))
    world.see('unknown', await world.admin(`/sessions/${nobody}`, 'DELETE'))
    world.see('nonsense', await world.admin('/sessions/zz', 'DELETE'))
  },
  'a session is extended': async (world) => {
    const { session } = await makeSignedPerson(world)
    world.see('answer', await world.admin(`/sessions/${session.id}/extend`, 'PATCH'))
    await world.admin(`/sessions/${session.id}`, 'DELETE')
    world.see('ended', await world.admin(`/sessions/${session.id}/extend`, 'PATCH'))
    world.see('unknown', await world.admin(`/sessions/${nobody}/extend`, 'PATCH'))
    world.see('nonsense', await world.admin('/sessions/zz/extend', 'PATCH'))
  },
  'all sessions are listed in pages': async (world) => {
    const person = await makeSignedPerson(world)
    await signIn(world, person)
    const first = await world.admin<Session[]>('/sessions?page_size=1&active=true')
    world.note('first', [first.status, first.json.length, Object.keys(first.json[0] ?? {}).sort()])
    world.note('total', first.headers.has('x-total-count'))
    const next = /<([^>]+)>; ?rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
    const second = await world.adminPort().ask<Session[]>(next ?? '')
    world.note('second', [second.status, second.json.length, first.json[0]?.id !== second.json[0]?.id])
    for (const query of ['active=zz', 'expand=zz', 'page_token=zz', 'page_size=zz'])
      world.see(query, await world.admin(`/sessions?${query}`))
  },
  'all sessions are listed with what is asked for': async (world) => {
    await makeSignedPerson(world)
    const { json } = await world.admin<Session[]>('/sessions?page_size=1&expand=Identity&expand=Devices')
    world.note('identity', json[0]?.identity !== undefined)
    world.note('devices', (json[0]?.devices ?? []).length > 0)
  },
}

export const admin: Record<string, Scenario> = {
  ...create,
  ...read,
  ...change,
  ...batch,
  ...imports,
  ...sessionsOfAdmins,
}
