import type { Identity, Session } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, Browser } from '../../test/browser.ts'
import {
  adminToken,
  goodPassword,
  makeEmail,
  signUp,
  startTestIdentity,
  type TestIdentity,
} from '../../test/identity.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

const nobody = '11111111-1111-4111-8111-111111111111'

function ask<T = Identity>(path: string, method = 'GET', json?: unknown): Promise<Answer<T>> {
  const client = new Browser(identity.adminUrl, { authorization: `Bearer ${adminToken}` })
  return client.ask<T>(`/admin${path}`, { method, json })
}

async function signIn(email: string, password: string): Promise<number> {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  const { status } = await identity.frontend.updateLoginFlow({
    flow: flow.id,
    updateLoginFlowBody: { method: 'password', identifier: email, password },
  })
  return status
}

describe('an identity', () => {
  it('is read with its addresses, metadata and credential types, but without secrets', async () => {
    const { id, email } = await signUp(identity)
    const { data, status } = await identity.admin.getIdentity({ id })
    expect(status).toBe(200)
    expect(data).toMatchObject({
      id,
      schema_id: 'default',
      state: 'active',
      metadata_admin: null,
      metadata_public: null,
    })
    expect(Object.keys(data.credentials ?? {}).sort()).toEqual(['code', 'password', 'webauthn'])
    expect(data.credentials?.password?.identifiers).toEqual([email])
    expect(JSON.stringify(data)).not.toContain('argon2')
  })

  it('is answered with 404 for unknown ids and for malformed ids', async () => {
    expect((await ask(`/identities/${nobody}`)).status).toBe(404)
    expect((await ask('/identities/nonsense')).status).toBe(404)
  })

  it('is created with a password that can then be used to sign in', async () => {
    const email = makeEmail()
    const { data, status, headers } = await identity.admin.createIdentity({
      createIdentityBody: {
        schema_id: 'default',
        traits: { email },
        credentials: { password: { config: { password: goodPassword } } },
        metadata_public: { a: 1 },
      },
    })
    expect(status).toBe(201)
    expect(headers.location).toMatch(new RegExp(`/identities/${data.id}$`))
    expect(data).not.toHaveProperty('metadata_admin')
    expect(data.metadata_public).toEqual({ a: 1 })
    expect(await signIn(email, goodPassword)).toBe(200)
  })

  it('is created with a password that was hashed by another system', async () => {
    const [row] = await identity.sql<{ hash: string }>(
      `select config->>'hashed_password' as hash from identity.credentials where identity_id = $1 and type = 'password'`,
      [(await signUp(identity)).id],
    )
    const email = makeEmail()
    const password = (hashed_password: unknown) => ({ password: { config: { hashed_password } } })
    const made = await ask('/identities', 'POST', { traits: { email }, credentials: password(row?.hash) })
    expect(made.status).toBe(201)
    expect(await signIn(email, goodPassword)).toBe(200)
    const rubbish = await ask('/identities', 'POST', {
      traits: { email: makeEmail() },
      credentials: password('rubbish'),
    })
    expect(rubbish.status).toBe(400)
  })

  it('cannot sign in with a password when it was created without one', async () => {
    const email = makeEmail()
    expect((await ask('/identities', 'POST', { traits: { email } })).status).toBe(201)
    expect(await signIn(email, 'anything at all')).toBe(400)
  })

  it.each([
    ['an unknown field', { id: nobody }, 400, 'json: unknown field "id"'],
    ['wrong traits', { traits: { email: 'x', zip: 1 } }, 400, 'traits.email'],
    ['no traits', { traits: undefined }, 400, 'traits.email'],
    ['an unknown schema', { schema_id: 'zz' }, 400, 'JSON Schema'],
    ['a state that is none', { state: 'asleep' }, 400, 'Valid states'],
  ])('is not created with %s', async (_what, fields, status, text) => {
    const answer = await ask('/identities', 'POST', { traits: { email: makeEmail() }, ...fields })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text.replaceAll('"', '\\"'))
  })

  it('cannot have the address of another identity', async () => {
    const { email, id } = await signUp(identity)
    const created = await ask('/identities', 'POST', { traits: { email: email.toUpperCase() } })
    expect(created.status).toBe(409)
    const other = await signUp(identity)
    const patch = [{ op: 'replace', path: '/traits/email', value: email }]
    expect((await ask(`/identities/${other.id}`, 'PATCH', patch)).status).toBe(409)
    expect((await ask(`/identities/${id}`)).status).toBe(200)
    expect(await signIn(other.email, goodPassword)).toBe(200)
  })

  it.each([
    '/schema_url',
    '/schema_id',
    '/verifiable_addresses/0/verified',
    '/recovery_addresses/0/value',
    '/credentials/oidc',
    '/no_such_field',
  ])('refuses a patch of %s, which the service would have to ignore', async (path) => {
    const { id } = await signUp(identity)
    const before = (await ask(`/identities/${id}`)).json
    const patch = [
      { op: 'replace', path: '/metadata_public', value: { changed: true } },
      { op: 'replace', path, value: 'default' },
    ]
    expect((await ask(`/identities/${id}`, 'PATCH', patch)).status).toBe(400)
    expect((await ask(`/identities/${id}`)).json).toEqual(before)
  })

  it.each([
    [
      'an account elsewhere',
      { credentials: { oidc: { config: { providers: [{ provider: 'corp', subject: '1' }] } } } },
    ],
    ['another recovery address', { recovery_addresses: [{ value: 'other@example.com', via: 'email' }] }],
    ['another address to verify', { verifiable_addresses: [{ value: 'other@example.com', via: 'email' }] }],
    ['an organization', { organization_id: '11111111-1111-4111-8111-111111111111' }],
  ])('refuses an import of %s, which the service would have to ignore', async (_what, more) => {
    const email = makeEmail()
    expect((await ask('/identities', 'POST', { traits: { email }, ...more })).status).toBe(400)
    expect((await ask(`/identities?credentials_identifier=${email}`)).json).toEqual([])
  })

  it('refuses to include secret credentials in an answer', async () => {
    const { id } = await signUp(identity)
    for (const path of [`/identities/${id}?include_credential=password`, '/identities?include_credential=oidc'])
      expect((await ask(path)).status).toBe(400)
  })

  it('is updated by a patch, with another address to sign in with', async () => {
    const { id, email } = await signUp(identity)
    const next = makeEmail()
    const { json, status } = await ask(`/identities/${id}`, 'PATCH', [
      { op: 'replace', path: '/traits/email', value: next },
      { op: 'add', path: '/metadata_public/team/slug', value: 'blue' },
    ])
    expect(status).toBe(200)
    expect(json).toMatchObject({ traits: { email: next }, metadata_public: { team: { slug: 'blue' } } })
    expect(json.verifiable_addresses).toMatchObject([{ value: next }])
    expect(await signIn(email, goodPassword)).toBe(400)
    expect(await signIn(next, goodPassword)).toBe(200)
  })

  it.each([
    ['of its id', { op: 'replace', path: '/id', value: nobody }],
    ['of its credentials', { op: 'add', path: '/credentials/password', value: {} }],
    ['that tests', { op: 'test', path: '/state', value: 'active' }],
    ['that removes what is not there', { op: 'remove', path: '/metadata_public/x' }],
    ['of a prototype', { op: 'add', path: '/metadata_public/__proto__/x', value: 1 }],
  ])('refuses a patch %s', async (_what, operation) => {
    const { id } = await signUp(identity)
    expect((await ask(`/identities/${id}`, 'PATCH', [operation])).status).toBe(400)
  })

  it('is replaced as a whole, including its metadata', async () => {
    const { id } = await signUp(identity)
    await ask(`/identities/${id}`, 'PATCH', [{ op: 'add', path: '/metadata_admin', value: { note: 1 } }])
    const email = makeEmail()
    const { json, status } = await ask(`/identities/${id}`, 'PUT', { traits: { email } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ traits: { email }, state: 'active', metadata_public: null })
    expect((await ask(`/identities/${id}`)).json.metadata_admin).toBeNull()
  })

  it('loses its sessions at once when it is disabled or deleted', async () => {
    for (const end of ['disable', 'delete']) {
      const { id, token } = await signUp(identity)
      const patch = [{ op: 'replace', path: '/state', value: 'inactive' }]
      await (end === 'delete' ? ask(`/identities/${id}`, 'DELETE') : ask(`/identities/${id}`, 'PATCH', patch))
      expect((await identity.frontend.toSession({ xSessionToken: token })).status).toBe(401)
    }
  })

  it('leaves no rows behind when it is deleted, and its address can be used again', async () => {
    const { id, email } = await signUp(identity)
    expect((await ask(`/identities/${id}`, 'DELETE')).status).toBe(204)
    expect((await ask(`/identities/${id}`, 'DELETE')).status).toBe(404)
    const tables = ['credentials', 'credential_identifiers', 'verifiable_addresses', 'recovery_addresses', 'sessions']
    for (const table of tables)
      expect(await identity.sql(`select 1 from identity.${table} where identity_id = $1`, [id])).toEqual([])
    expect((await signUp(identity, email)).id).not.toBe(id)
  })

  it('keeps its password when credentials are deleted, because the password is a first factor', async () => {
    const { id } = await signUp(identity)
    expect((await ask(`/identities/${id}/credentials/password`, 'DELETE')).status).toBe(400)
    expect((await ask(`/identities/${id}/credentials/totp`, 'DELETE')).status).toBe(404)
    expect((await ask(`/identities/${id}/credentials/%00`, 'DELETE')).status).toBe(404)
  })
})

describe('the list of identities', () => {
  it('contains every identity once across all pages', async () => {
    for (let index = 0; index < 5; index++) await signUp(identity)
    const seen: string[] = []
    let path: string | undefined = '/identities?page_size=2'
    while (path) {
      const answer: Answer<Identity[]> = await ask<Identity[]>(path)
      expect(answer.json.length).toBeLessThanOrEqual(2)
      expect(answer.headers.get('x-total-count')).toBeNull()
      seen.push(...answer.json.map(({ id }) => id))
      expect(answer.json[0]).not.toHaveProperty('credentials')
      path = /<\/admin([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    const rows = await identity.sql<{ id: string }>('select id from identity.identities order by id')
    expect(seen).toEqual(rows.map(({ id }) => id))
  })

  it('has numbered pages with a total, as older clients request', async () => {
    const [row] = await identity.sql<{ total: number }>('select count(*)::int as total from identity.identities')
    const answer = await ask<Identity[]>('/identities?page=1&per_page=2')
    expect(answer.json).toHaveLength(2)
    expect(answer.headers.get('x-total-count')).toBe(String(row?.total))
    expect(answer.headers.get('link')).toMatch(/rel="first".*rel="next".*rel="prev".*rel="last"/)
  })

  it('is filtered by ids, and unknown ids are skipped', async () => {
    const people = [await signUp(identity), await signUp(identity)]
    const ids = people.map(({ id }) => id)
    const { data } = await identity.admin.listIdentities({ ids: [...ids, nobody] })
    expect(data.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect((await ask('/identities?ids=nonsense')).status).toBe(400)
  })

  it('is filtered by identifier in any capitals, and shows only the credentials of the match', async () => {
    const { email, id } = await signUp(identity)
    const { data } = await identity.admin.listIdentities({ credentialsIdentifier: email.toUpperCase() })
    expect(data.map((found) => found.id)).toEqual([id])
    expect(data[0]?.credentials?.password?.identifiers).toEqual([email])
    expect((await ask<Identity[]>('/identities?credentials_identifier=nobody')).json).toEqual([])
  })

  it('is searched for a part of an identifier, which is taken literally', async () => {
    const { email, id } = await signUp(identity, `odd_${makeEmail()}`)
    const found = await identity.admin.listIdentities({ previewCredentialsIdentifierSimilar: email.slice(0, 12) })
    expect(found.data.map((entry) => entry.id)).toEqual([id])
    const wild = await identity.admin.listIdentities({ previewCredentialsIdentifierSimilar: '%dd_user' })
    expect(wild.data).toEqual([])
  })

  it.each([
    'page_size=x',
    'page_token=x',
    'page=-1',
    'credentials_identifier=a&preview_credentials_identifier_similar=b',
  ])('refuses the filter %s', async (query) => {
    expect((await ask(`/identities?${query}`)).status).toBe(400)
  })

  it('uses the index for a search by identifier', async () => {
    await identity.sql('set enable_seqscan = off')
    const plan = await identity.sql<{ 'QUERY PLAN': string }>(
      `explain select row_to_json(i) from identity.identities i where i.id > '${nobody}' order by i.id limit 10`,
    )
    await identity.sql('reset enable_seqscan')
    expect(JSON.stringify(plan)).toContain('identities_pkey')
    expect(JSON.stringify(plan)).not.toContain('Sort')
  })
})

describe('the session API for administrators', () => {
  it('lists, reads with the requested expansions, extends and ends sessions', async () => {
    const { id, token, registration } = await signUp(identity)
    const session = registration.session?.id
    const list = await ask<Session[]>(`/identities/${id}/sessions`)
    expect(list.headers.get('x-total-count')).toBe('1')
    expect(list.json).toMatchObject([{ id: session, active: true, identity: { id }, devices: [{}] }])
    expect((await ask(`/sessions/${session}`)).json).toMatchObject({ id: session, devices: [], identity: null })
    const expanded = await ask(`/sessions/${session}?expand=Identity&expand=Devices`)
    expect(expanded.json).toMatchObject({ identity: { id, verifiable_addresses: [{}] }, devices: [{}] })

    await identity.sql(`update identity.sessions set expires_at = now() + interval '1 minute' where id = $1`, [session])
    const extended = await ask<Session>(`/sessions/${session}/extend`, 'PATCH')
    expect(Date.parse(extended.json.expires_at ?? '')).toBeGreaterThan(Date.now() + 23 * 3600_000)

    expect((await ask(`/sessions/${session}`, 'DELETE')).status).toBe(204)
    expect((await ask(`/sessions/${session}`, 'DELETE')).status).toBe(204)
    expect((await identity.frontend.toSession({ xSessionToken: token })).status).toBe(401)
    expect((await ask(`/sessions/${session}/extend`, 'PATCH')).json).toMatchObject({ active: false })
    expect((await ask<Session[]>(`/identities/${id}/sessions?active=true`)).json).toEqual([])
    expect((await ask(`/identities/${id}/sessions`, 'DELETE')).status).toBe(204)
    expect((await ask(`/identities/${id}/sessions`, 'DELETE')).status).toBe(404)
  })

  it('lists the sessions of all identities in pages, the newest first', async () => {
    const newest = await signUp(identity)
    const first = await ask<Session[]>('/sessions?page_size=1&expand=identity')
    expect(first.json).toMatchObject([{ identity: { id: newest.id }, devices: null }])
    const next = /<\/admin([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await ask<Session[]>(next)
    expect(second.json).toHaveLength(1)
    expect(second.json[0]?.id).not.toBe(first.json[0]?.id)
  })

  it.each([
    '/sessions/nonsense',
    '/identities/nonsense/sessions',
    '/sessions?active=x',
    '/sessions?expand=x',
    '/sessions?page_token=x',
  ])('refuses %s', async (path) => {
    expect((await ask(path)).status).toBe(400)
  })

  it('returns no sessions for an unknown identity', async () => {
    expect((await ask(`/sessions/${nobody}`)).status).toBe(404)
    expect((await ask<Session[]>(`/identities/${nobody}/sessions`)).json).toEqual([])
  })
})
