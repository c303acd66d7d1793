import { limits } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dial } from '../../test/kit/dial.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
let serial = 0

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada')
  team = await crux.createTeam(ada)
})
afterAll(() => crux.stop())

type Scope = 'read' | 'deploy' | 'full'
const make = (of: Someone, scope: Scope = 'full', expirationInDays = 30) =>
  crux.client(of).call('tokens.create', { body: { name: `Token ${++serial}`, scope, expirationInDays } })
const holding = (token: string, of = ada): Someone => ({ ...of, token })
const nodes = (as: Someone) => crux.request(`/api/${team.slug}/nodes`, { as })
const stored = async (id: string) =>
  (await crux.app.database.pool.query('select * from crux.access_token where id = $1', [id])).rows[0]

describe('an API token', () => {
  it('is shown once, starts with crux_ and is stored as a hash', async () => {
    const { token, ...made } = await make(ada, 'deploy', 60)
    expect(token).toMatch(/^crux_[\w-]{43}$/)
    const days = (Date.parse(made.expiresAt ?? '') - Date.parse(made.createdAt)) / 86_400_000
    expect(days).toBeCloseTo(60, 2)
    expect(made).toMatchObject({ scope: 'deploy', lastUsedAt: null })
    const { call } = crux.client(ada)
    expect(await call('tokens.get', { params: { tokenId: made.id } })).toEqual(made)
    expect(JSON.stringify([await call('tokens.list'), await stored(made.id)])).not.toContain(token.slice(5))
  })

  it("requires a verified address, because it would outlive an account registered with another user's address", async () => {
    const someone = crux.signUp()
    crux.people.verify(someone, false)
    await expect(make(someone)).rejects.toMatchObject({ status: 412, property: 'email' })
    crux.people.verify(someone, true)
    expect((await make(someone)).token).toMatch(/^crux_/)
  })

  it('is created only within five minutes after a sign-in, and at once after signing in again', async () => {
    const old = crux.people.signIn(ada, { authenticatedAt: new Date(Date.now() - limits.recentSignInMs - 1_000) })
    // The server now caches this session with its old sign-in.
    await crux.client(old).call('tokens.list')
    await expect(make(old)).rejects.toMatchObject({ status: 403, property: 'session' })
    const account = await crux
      .client(ada)
      .call('service-accounts.create', { params: { teamSlug: team.slug }, body: { name: 'Robot', role: 'user' } })
    const params = { teamSlug: team.slug, serviceAccountId: account.id }
    const body = { name: 'Of a robot', expirationInDays: 1 }
    await expect(crux.client(old).request('service-accounts.create-token', { params, body })).rejects.toMatchObject({
      status: 403,
      property: 'session',
    })
    crux.people.confirm(old)
    expect((await make(old)).token).toMatch(/^crux_/)
    const { token } = await crux.client(old).call('service-accounts.create-token', { params, body })
    expect(token).toMatch(/^crux_/)
  })

  it('is reported to its owner when it is created and when it is revoked, and not when that fails', async () => {
    const someone = crux.signUp()
    const reports = () =>
      crux.people.reports.filter(({ id }) => id === someone.id).map(({ id: _, ...report }) => report)
    const { id, name } = await make(someone, 'deploy')
    await until(async () => reports().length === 1)
    await expect(
      crux.client(someone).request('tokens.create', { body: { name, expirationInDays: 0 } }),
    ).rejects.toMatchObject({ status: 409 })
    await crux.client(someone).call('tokens.delete', { params: { tokenId: id } })
    await until(async () => reports().length === 2)
    expect(reports()).toEqual([
      { event: 'token-created', name, scope: 'deploy' },
      { event: 'token-revoked', name },
    ])
  })

  it('never expires when that was requested, and has the full scope by default', async () => {
    const made = await crux.client(ada).call('tokens.create', { body: { name: 'Unlimited', expirationInDays: 0 } })
    expect(made).toMatchObject({ expiresAt: null, scope: 'full' })
  })

  it('has the current role of its user, and records the minute of its last use', async () => {
    const member = await crux.addMember(team, 'admin')
    const { token, id } = await make(member)
    const me = holding(token, member)
    expect((await crux.client(me).call('users.me')).user.id).toBe(member.id)
    const body = { name: 'Machine by a token' }
    const node = await crux.client(me).call('nodes.create', { params: { teamSlug: team.slug }, body })
    expect(node.name).toBe(body.name)
    const { lastUsedAt } = await until(async () => {
      const now = await crux.client(member).call('tokens.get', { params: { tokenId: id } })
      return now.lastUsedAt ? now : undefined
    })
    await nodes(me)
    expect(await crux.client(member).call('tokens.get', { params: { tokenId: id } })).toMatchObject({ lastUsedAt })

    await crux.app.database.pool.query(`update crux.team_member set role = 'user' where user_id = $1`, [member.id])
    crux.app.bus.publish({ type: 'member.changed', teamId: team.id, userId: member.id })
    const lower = () => crux.request(`/api/${team.slug}/nodes/${node.id}`, { method: 'DELETE', as: me })
    await until(async () => (await lower()).status === 403, 1_000)
    await crux.app.database.pool.query('delete from crux.team_member where user_id = $1', [member.id])
    crux.app.bus.publish({ type: 'member.changed', teamId: team.id, userId: member.id })
    await until(async () => (await nodes(me)).status === 403, 1_000)
  })

  it('is invalid from the moment of its revocation, also where it was just used', async () => {
    const { token, id } = await make(ada)
    expect((await nodes(holding(token))).status).toBe(200)
    await crux.client(ada).call('tokens.delete', { params: { tokenId: id } })
    expect((await nodes(holding(token))).status).toBe(401)
    expect(await stored(id)).toBeUndefined()
  })

  it('is invalid after its expiry', async () => {
    const { token, id } = await make(ada, 'read', 1)
    await crux.app.database.pool.query(`update crux.access_token set expires_at = now() where id = $1`, [id])
    expect((await nodes(holding(token))).status).toBe(401)
  })

  it('is invalid when the account is disabled or deleted', async () => {
    const member = await crux.addMember(team, 'user')
    const { token } = await make(member)
    expect((await nodes(holding(token))).status).toBe(200)
    crux.people.disable(member)
    // The notification that the identity service sends in the transaction that disables or deletes an account.
    await crux.app.database.pool.query('select pg_notify($1, $2)', ['crux_identities', member.id])
    await until(async () => (await nodes(holding(token))).status === 401, 500)
  })

  it('that is invalid is refused even with a valid cookie, and a header without a token of ours still means the session', async () => {
    const cookie = `ory_kratos_session=${ada.token}`
    const ask = (authorization: string) => crux.request('/api/teams', { headers: { cookie, authorization } })
    expect((await ask(`Bearer crux_${'x'.repeat(43)}`)).status).toBe(401)
    expect((await ask('Bearer crux_short')).status).toBe(401)
    expect((await ask(`Bearer ${ada.token}`)).status).toBe(200)
  })

  it('is not accepted in an address', async () => {
    const { token } = await make(ada)
    expect((await crux.request(`/api/teams?token=${token}`)).status).toBe(401)
  })

  it('of another user is answered as not found', async () => {
    const eve = crux.signUp('Eve')
    const { id } = await make(ada)
    const { request } = crux.client(eve)
    const params = { tokenId: id }
    await expect(request('tokens.get', { params })).rejects.toMatchObject({ status: 404 })
    await expect(request('tokens.delete', { params })).rejects.toMatchObject({ status: 404 })
    expect(await stored(id)).toBeDefined()
  })

  it('has a unique name, and their number is limited, also for concurrent requests', async () => {
    const hoarder = crux.signUp('Hoarder')
    const { request } = crux.client(hoarder)
    const body = (name: string) => ({ body: { name, expirationInDays: 0 } })
    await request('tokens.create', body('The same'))
    await expect(request('tokens.create', body('The same'))).rejects.toMatchObject({ status: 409, property: 'name' })
    const seed = `insert into crux.access_token (user_id, name, hash, scope, aal, created_by)
      select $1, 'Seed ' || n, gen_random_uuid()::text, 'read', 'aal1', $1 from generate_series(1, $2::int) n`
    await crux.app.database.pool.query(seed, [hoarder.id, limits.tokensPerHolder - 3])
    const asked = ['One', 'Two', 'Three', 'Four', 'Five'].map((name) => request('tokens.create', body(`Token ${name}`)))
    const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled')
    expect(made).toHaveLength(2)
    await expect(request('tokens.create', body('One more'))).rejects.toMatchObject({ status: 412, property: 'tokens' })
  })

  it('has the assurance of the session that created it', async () => {
    const strong = crux.people.signIn(ada, { aal: 'aal2' })
    const [weak, good] = [await make(ada), await make(strong)]
    expect(await stored(weak.id)).toMatchObject({ aal: 'aal1' })
    expect(await stored(good.id)).toMatchObject({ aal: 'aal2' })
    const wanting = await crux.createTeam(ada)
    await crux.app.database.pool.query('update crux.team set second_factor_required = true where id = $1', [wanting.id])
    crux.app.bus.publish({ type: 'team.changed', teamId: wanting.id })
    const ask = async ({ token }: { token: string }) => {
      const answer = await crux.request(`/api/${wanting.slug}/nodes`, { as: holding(token) })
      return [answer.status, ((await answer.json()) as { property?: string }).property]
    }
    expect(await ask(weak)).toEqual([403, 'secondFactor'])
    expect(await ask(good)).toEqual([200, undefined])
  })
})

describe('the live channel', () => {
  const path = () => `/${team.slug}/nodes`

  it('is closed for a revoked token within 5 s, and does not open again', async () => {
    const { token, id } = await make(ada, 'read')
    const { subscribe, closed } = await dial(crux.url, token)
    expect(await subscribe(path())).toMatchObject({ type: 'subbed' })
    const revokedAt = Date.now()
    await crux.client(ada).call('tokens.delete', { params: { tokenId: id } })
    expect(await closed).toBe(4401)
    expect(Date.now() - revokedAt).toBeLessThan(5_000)
    await expect(dial(crux.url, token)).rejects.toThrow('status 401')
  })

  it('is closed within 5 s for the token of a disabled account', async () => {
    const member = await crux.addMember(team, 'user')
    const { token } = await make(member)
    const { subscribe, closed } = await dial(crux.url, token)
    await subscribe(path())
    crux.people.disable(member)
    const disabledAt = Date.now()
    expect(await closed).toBe(4401)
    expect(Date.now() - disabledAt).toBeLessThan(5_000)
  })
})
