import type { Identity, Session } from '@ory/kratos-client'
import { open, submit } from '../flows.ts'
import { importedPasswords } from '../imported-passwords.ts'
import type { Scenario } from '../service.ts'
import { makeSignedInUser, makeUser, names, newEmail, nobody, password, signIn } from '../users.ts'

const create: Record<string, Scenario> = {
  'an identity is created with its traits': async ({ admin, see }) => {
    see('answer', await admin('/identities', 'POST', { traits: { email: newEmail() } }))
  },
  'an identity is created with all fields': async ({ admin, see }) => {
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
  'the location header contains the id of a new identity': async ({ admin, note }) => {
    const made = await admin<Identity>('/identities', 'POST', { traits: { email: newEmail() } })
    note('ends with the id', made.location?.endsWith(`/identities/${made.json.id}`))
  },
  'a taken address is refused': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin('/identities', 'POST', { traits: { email } }))
    testEnvironment.see(
      'capitals',
      await testEnvironment.admin('/identities', 'POST', { traits: { email: email.toUpperCase() } }),
    )
  },
  'an import may contain an address that the traits lack': async ({ admin, see }) => {
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
  'invalid traits are refused': async ({ admin, see }) => {
    see('missing', await admin('/identities', 'POST', { traits: {} }))
    see('format', await admin('/identities', 'POST', { traits: { email: 'ada' } }))
    see('unknown', await admin('/identities', 'POST', { traits: { email: newEmail(), zap: 1 } }))
    see('type', await admin('/identities', 'POST', { traits: { email: 5 } }))
  },
  'a body that is not JSON is refused': async ({ adminPort, see }) => {
    const headers = { 'content-type': 'application/json' }
    see('broken', await adminPort().ask('/admin/identities', { body: '{"a', headers }))
    see('empty', await adminPort().ask('/admin/identities', { method: 'POST' }))
  },
}

const read: Record<string, Scenario> = {
  'an identity is read': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}`))
    testEnvironment.see('unknown', await testEnvironment.admin(`/identities/${nobody}`))
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities/zz'))
  },
  'an identity without a password is read': async ({ admin, see }) => {
    const { json } = await admin<Identity>('/identities', 'POST', { traits: { email: newEmail() } })
    see('answer', await admin(`/identities/${json.id}`))
  },
  'a request for a credential with its secret is refused': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    testEnvironment.see('password', await testEnvironment.admin(`/identities/${id}?include_credential=password`))
    testEnvironment.see('oidc', await testEnvironment.admin(`/identities/${id}?include_credential=oidc`))
    testEnvironment.see('unknown', await testEnvironment.admin(`/identities/${id}?include_credential=zz`))
  },
  'identities are found by identifier': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const find = (text: string) =>
      testEnvironment.admin(`/identities?credentials_identifier=${encodeURIComponent(text)}`)
    testEnvironment.see('lower', await find(email.toLowerCase()))
    testEnvironment.see('upper', await find(email.toUpperCase()))
    testEnvironment.see('part', await find(email.slice(0, 20)))
    testEnvironment.see('unknown', await find('nobody@example.com'))
  },
  'identities are found by a part of the identifier': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const part = email.toLowerCase().slice(0, 19)
    testEnvironment.see(
      'answer',
      await testEnvironment.admin(`/identities?preview_credentials_identifier_similar=${part}`),
    )
    const both = `preview_credentials_identifier_similar=${part}&credentials_identifier=${part}`
    testEnvironment.see('both', await testEnvironment.admin(`/identities?${both}`))
  },
  'identities are found by ids': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const other = await makeUser(testEnvironment)
    testEnvironment.see('one', await testEnvironment.admin(`/identities?ids=${id}&ids=${nobody}`))
    const { json } = await testEnvironment.admin<Identity[]>(`/identities?ids=${id}&ids=${other.id}`)
    testEnvironment.note('two', json.length)
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities?ids=zz'))
  },
  'identities have pages': async (testEnvironment) => {
    await makeUser(testEnvironment)
    await makeUser(testEnvironment)
    const first = await testEnvironment.admin<unknown[]>('/identities?page_size=1')
    testEnvironment.note('size', first.json.length)
    const next = /<([^>]+)>; ?rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
    testEnvironment.note('next', next?.replace(/page_token=.*/, 'page_token='))
    const second = await testEnvironment.adminPort().ask<Identity[]>(next ?? '')
    testEnvironment.note('second size', second.json.length)
    testEnvironment.note('another', JSON.stringify(first.json) !== JSON.stringify(second.json))
    testEnvironment.note('total', first.headers.get('x-total-count'))
  },
  'identities have numbered pages': async (testEnvironment) => {
    await makeUser(testEnvironment)
    await makeUser(testEnvironment)
    const page = await testEnvironment.admin<unknown[]>('/identities?per_page=1&page=1')
    testEnvironment.note('size', page.json.length)
    testEnvironment.note('total', page.headers.has('x-total-count'))
    const rels = [...(page.headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel)
    testEnvironment.note('links', rels.sort())
  },
  'a page of size zero has the default size': async ({ admin, note }) => {
    for (const query of ['', '?page_size=0', '?page_size=5000']) {
      const { headers } = await admin(`/identities${query}`)
      note(query || 'none', /page_size=(\d+)/.exec(headers.get('link') ?? '')?.[1])
    }
  },
  'malformed page parameters are refused': async ({ admin, see }) => {
    for (const query of ['page_size=x', 'page_token=x']) see(query, await admin(`/identities?${query}`))
  },
}

const change: Record<string, Scenario> = {
  'an identity is replaced': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment, { metadata_public: { a: 1 }, metadata_admin: { b: 2 } })
    const body = { schema_id: 'default', state: 'active', traits: { email: newEmail() } }
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}`, 'PUT', body))
    testEnvironment.see('read', await testEnvironment.admin(`/identities/${id}`))
  },
  'a replacement keeps state and password': async (testEnvironment) => {
    const { id, email } = await makeUser(testEnvironment, { state: 'inactive' })
    testEnvironment.see(
      'answer',
      await testEnvironment.admin(`/identities/${id}`, 'PUT', { traits: { email, name: {} } }),
    )
    await testEnvironment.admin(`/identities/${id}`, 'PATCH', [{ op: 'replace', path: '/state', value: 'active' }])
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const done = await submit(testEnvironment.browser(), flow, { method: 'password', identifier: email, password })
    testEnvironment.note('signed in', done.status)
  },
  'a replacement sets a password': async (testEnvironment) => {
    const { id, email } = await makeUser(testEnvironment)
    const next = 'ten green Badgers 77'
    const body = { traits: { email }, state: 'active', schema_id: 'default' }
    const credentials = { password: { config: { password: next } } }
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}`, 'PUT', { ...body, credentials }))
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email }
    testEnvironment.note('former', (await submit(testEnvironment.browser(), flow, { ...fields, password })).status)
    testEnvironment.note('new', (await submit(testEnvironment.browser(), flow, { ...fields, password: next })).status)
  },
  'an invalid replacement is refused': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const taken = await makeUser(testEnvironment)
    const put = (body: unknown, whose = id) => testEnvironment.admin(`/identities/${whose}`, 'PUT', body)
    testEnvironment.see('no traits', await put({ schema_id: 'default', state: 'active' }))
    testEnvironment.see('bad traits', await put({ traits: { email: 'ada' } }))
    testEnvironment.see('taken', await put({ traits: { email: taken.email } }))
    testEnvironment.see('state', await put({ traits: { email: newEmail() }, state: 'zz' }))
    testEnvironment.see('unknown field', await put({ traits: { email: newEmail() }, id: nobody }))
    testEnvironment.see('unknown', await put({ traits: { email: newEmail() } }, nobody))
    testEnvironment.see('nonsense', await put({ traits: { email: newEmail() } }, 'zz'))
  },
  'an identity is patched': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const patch = (op: string, path: string, value?: unknown) =>
      testEnvironment.admin(`/identities/${id}`, 'PATCH', [{ op, path, value }])
    testEnvironment.see('trait', await patch('replace', '/traits/name/first', 'Grace'))
    testEnvironment.see('state', await patch('replace', '/state', 'inactive'))
    testEnvironment.see('below nothing', await patch('add', '/metadata_admin/x/y', 3))
    testEnvironment.see('public', await patch('add', '/metadata_public', { a: 1 }))
    testEnvironment.see('removed', await patch('remove', '/metadata_public/a'))
    testEnvironment.see('nothing there', await patch('remove', '/metadata_public/zz'))
    testEnvironment.see('read', await testEnvironment.admin(`/identities/${id}`))
  },
  'a patch of a protected field is refused': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const taken = await makeUser(testEnvironment)
    const patch = (op: string, path: string, value?: unknown) =>
      testEnvironment.admin(`/identities/${id}`, 'PATCH', [{ op, path, value }])
    testEnvironment.see('id', await patch('replace', '/id', nobody))
    testEnvironment.see('credentials', await patch('replace', '/credentials', {}))
    testEnvironment.see('below credentials', await patch('replace', '/credentials/password', {}))
    testEnvironment.see('schema_url', await patch('replace', '/schema_url', 'http://evil.test'))
    testEnvironment.see('state_changed_at', await patch('replace', '/state_changed_at', '2020-01-01T00:00:00Z'))
    testEnvironment.see('unknown', await patch('add', '/zap', 1))
    testEnvironment.see('test', await patch('test', '/state', 'active'))
    testEnvironment.see('operation', await patch('zap', '/state', 'active'))
    testEnvironment.see('state', await patch('replace', '/state', 'zz'))
    testEnvironment.see('traits', await patch('replace', '/traits', {}))
    testEnvironment.see('taken', await patch('replace', '/traits/email', taken.email))
  },
  'a malformed patch is refused': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    testEnvironment.see('object', await testEnvironment.admin(`/identities/${id}`, 'PATCH', {}))
    testEnvironment.see('empty', await testEnvironment.admin(`/identities/${id}`, 'PATCH', []))
    testEnvironment.see('of nobody', await testEnvironment.admin(`/identities/${nobody}`, 'PATCH', []))
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities/zz', 'PATCH', []))
    const body = JSON.stringify([{ op: 'replace', path: '/state', value: 'active' }])
    const headers = { 'content-type': 'text/plain' }
    testEnvironment.see(
      'any type',
      await testEnvironment.adminPort().ask(`/admin/identities/${id}`, { method: 'PATCH', body, headers }),
    )
  },
  'a patched address must be verified': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const operation = { op: 'replace', path: '/traits/email', value: newEmail() }
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}`, 'PATCH', [operation]))
  },
  'an identity is deleted': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}`, 'DELETE'))
    testEnvironment.see('again', await testEnvironment.admin(`/identities/${id}`, 'DELETE'))
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities/zz', 'DELETE'))
  },
  'first factors cannot be deleted': async (testEnvironment) => {
    const { id } = await makeUser(testEnvironment)
    const remove = (type: string, whose = id) =>
      testEnvironment.admin(`/identities/${whose}/credentials/${type}`, 'DELETE')
    for (const type of ['password', 'code', 'totp', 'lookup_secret', 'webauthn', 'passkey', 'oidc', 'zz'])
      testEnvironment.see(type, await remove(type))
    testEnvironment.see('of nobody', await remove('totp', nobody))
  },
}

interface Batch {
  identities: { action: string; identity?: string; patch_id?: string }[]
}

const batch: Record<string, Scenario> = {
  'several identities are created at once': async ({ admin, see }) => {
    const identities = [1, 2].map((n) => ({
      create: { traits: { email: newEmail() } },
      patch_id: `${nobody.slice(0, -1)}${n}`,
    }))
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'an identity that conflicts does not stop the rest of a batch': async (testEnvironment) => {
    const { email } = await makeUser(testEnvironment)
    const identities = [email, newEmail()].map((address) => ({ create: { traits: { email: address } } }))
    const answer = await testEnvironment.admin<Batch>('/identities', 'PATCH', { identities })
    testEnvironment.see('answer', answer)
    const made = answer.json.identities.find(({ action }) => action === 'create')
    testEnvironment.see('read', await testEnvironment.admin(`/identities/${made?.identity}`))
  },
  'an invalid identity of a batch is reported': async ({ admin, see }) => {
    const identities = [{ create: { traits: { email: 'ada' } } }, { create: { traits: { email: newEmail() } } }]
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'two identities of a batch with the same address conflict': async ({ admin, see }) => {
    const email = newEmail()
    const identities = [{ create: { traits: { email } } }, { create: { traits: { email } } }]
    see('answer', await admin('/identities', 'PATCH', { identities }))
  },
  'the identities of a batch may have passwords': async (testEnvironment) => {
    const email = newEmail()
    const credentials = { password: { config: { password } } }
    const verified = [{ value: email.toLowerCase(), verified: true, via: 'email', status: 'completed' }]
    const create = { traits: { email }, credentials, verifiable_addresses: verified }
    testEnvironment.see('answer', await testEnvironment.admin('/identities', 'PATCH', { identities: [{ create }] }))
    const flow = await open(testEnvironment.browser(), 'login', 'api')
    const fields = { method: 'password', identifier: email, password }
    testEnvironment.note('signed in', (await submit(testEnvironment.browser(), flow, fields)).status)
  },
  'an empty batch is accepted': async ({ admin, see }) => {
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
      async (testEnvironment) => {
        const user = await makeUser(testEnvironment, {
          credentials: { password: { config: { hashed_password: hash } } },
        })
        const flow = await open(testEnvironment.browser(), 'login', 'api')
        const fields = { method: 'password', identifier: user.email, password }
        const wrong = await submit(testEnvironment.browser(), flow, { ...fields, password: 'not my password' })
        testEnvironment.note('wrong', wrong.status)
        testEnvironment.note('right', (await submit(testEnvironment.browser(), flow, fields)).status)
        testEnvironment.note('again', (await submit(testEnvironment.browser(), flow, fields)).status)
      },
    ]),
  ),
  'a password hash in an unknown format is refused': async ({ admin, see }) => {
    for (const hash of ['zz', '$2a$zz', '$argon2id$zz', '$pbkdf2-sha256$zz', '$scrypt$zz', '{SSHA}', '$zz$a$b']) {
      const credentials = { password: { config: { hashed_password: hash } } }
      see(hash, await admin('/identities', 'POST', { traits: { email: newEmail() }, credentials }))
    }
  },
}

const sessionsOfAdmins: Record<string, Scenario> = {
  'the sessions of an identity are listed': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    await signIn(testEnvironment, user)
    testEnvironment.see('all', await testEnvironment.admin(`/identities/${user.id}/sessions`))
    testEnvironment.see('page', await testEnvironment.admin(`/identities/${user.id}/sessions?page_size=1`))
    testEnvironment.see('active', await testEnvironment.admin(`/identities/${user.id}/sessions?active=true`))
    testEnvironment.see('ended', await testEnvironment.admin(`/identities/${user.id}/sessions?active=false`))
    testEnvironment.see('of nobody', await testEnvironment.admin(`/identities/${nobody}/sessions`))
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities/zz/sessions'))
    testEnvironment.see('active nonsense', await testEnvironment.admin(`/identities/${user.id}/sessions?active=zz`))
  },
  'all sessions of an identity are deleted': async (testEnvironment) => {
    const { id, client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/identities/${id}/sessions`, 'DELETE'))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('again', await testEnvironment.admin(`/identities/${id}/sessions`, 'DELETE'))
    testEnvironment.see('nonsense', await testEnvironment.admin('/identities/zz/sessions', 'DELETE'))
  },
  'a session is read': async (testEnvironment) => {
    const { session } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('bare', await testEnvironment.admin(`/sessions/${session.id}`))
    testEnvironment.see('identity', await testEnvironment.admin(`/sessions/${session.id}?expand=Identity`))
    testEnvironment.see('devices', await testEnvironment.admin(`/sessions/${session.id}?expand=Devices`))
    testEnvironment.see('both', await testEnvironment.admin(`/sessions/${session.id}?expand=Identity&expand=Devices`))
    testEnvironment.see('zz', await testEnvironment.admin(`/sessions/${session.id}?expand=zz`))
    testEnvironment.see('unknown', await testEnvironment.admin(`/sessions/${nobody}`))
    testEnvironment.see('nonsense', await testEnvironment.admin('/sessions/zz'))
  },
  'a session is ended': async (testEnvironment) => {
    const { session, client } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/sessions/${session.id}`, 'DELETE'))
    testEnvironment.see('whoami', await client.ask('/sessions/whoami'))
    testEnvironment.see('again', await testEnvironment.admin(`/sessions/${session.id}`, 'DELETE'))
    testEnvironment.see('read', await testEnvironment.admin(`/sessions/${session.id}`))
    testEnvironment.see('unknown', await testEnvironment.admin(`/sessions/${nobody}`, 'DELETE'))
    testEnvironment.see('nonsense', await testEnvironment.admin('/sessions/zz', 'DELETE'))
  },
  'a session is extended': async (testEnvironment) => {
    const { session } = await makeSignedInUser(testEnvironment)
    testEnvironment.see('answer', await testEnvironment.admin(`/sessions/${session.id}/extend`, 'PATCH'))
    await testEnvironment.admin(`/sessions/${session.id}`, 'DELETE')
    testEnvironment.see('ended', await testEnvironment.admin(`/sessions/${session.id}/extend`, 'PATCH'))
    testEnvironment.see('unknown', await testEnvironment.admin(`/sessions/${nobody}/extend`, 'PATCH'))
    testEnvironment.see('nonsense', await testEnvironment.admin('/sessions/zz/extend', 'PATCH'))
  },
  'all sessions are listed in pages': async (testEnvironment) => {
    const user = await makeSignedInUser(testEnvironment)
    await signIn(testEnvironment, user)
    const first = await testEnvironment.admin<Session[]>('/sessions?page_size=1&active=true')
    testEnvironment.note('first', [first.status, first.json.length, Object.keys(first.json[0] ?? {}).sort()])
    testEnvironment.note('total', first.headers.has('x-total-count'))
    const next = /<([^>]+)>; ?rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
    const second = await testEnvironment.adminPort().ask<Session[]>(next ?? '')
    testEnvironment.note('second', [second.status, second.json.length, first.json[0]?.id !== second.json[0]?.id])
    for (const query of ['active=zz', 'expand=zz', 'page_token=zz', 'page_size=zz'])
      testEnvironment.see(query, await testEnvironment.admin(`/sessions?${query}`))
  },
  'all sessions are listed with the requested expansions': async (testEnvironment) => {
    await makeSignedInUser(testEnvironment)
    const { json } = await testEnvironment.admin<Session[]>('/sessions?page_size=1&expand=Identity&expand=Devices')
    testEnvironment.note('identity', json[0]?.identity !== undefined)
    testEnvironment.note('devices', (json[0]?.devices ?? []).length > 0)
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
