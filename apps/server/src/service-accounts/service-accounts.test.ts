import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dial } from '../../test/kit/dial.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'

let crux: TestServer
let owner: Someone
let admin: Someone
let team: TestTeam
let serial = 0

beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Owner')
  team = await crux.createTeam(owner)
  admin = await crux.addMember(team, 'admin', 'Grace Hopper')
})
afterAll(() => crux.stop())

const params = () => ({ teamSlug: team.slug })
async function makeAccount(role: 'admin' | 'user', name = `Robot ${++serial}`) {
  const { call } = crux.client(admin)
  const account = await call('service-accounts.create', { params: params(), body: { name, role } })
  const at = { ...params(), serviceAccountId: account.id }
  const body = { name: 'Pipeline', expirationInDays: 90 }
  const token = await call('service-accounts.create-token', { params: at, body })
  return { account, at, token, me: { ...owner, token: token.token } satisfies Someone }
}
const list = async () => crux.client(admin).call('service-accounts.list', { params: params() })
const deleteNode = (as: Someone, nodeId: string) =>
  crux.request(`/api/${team.slug}/nodes/${nodeId}`, { method: 'DELETE', as })

describe('a service account', () => {
  it('is listed with its creator and its tokens, whose texts were shown once', async () => {
    const { account, token } = await makeAccount('user', 'Deploy robot')
    const { token: text, ...shown } = token
    const listed = (await list()).find(({ id }) => id === account.id)
    expect(listed).toMatchObject({ name: 'Deploy robot', role: 'user', createdBy: 'Grace Hopper', tokens: [shown] })
    expect(JSON.stringify(listed)).not.toContain(text.slice(5))
  })

  it('is never an owner, and its name is unique in the team', async () => {
    const { call, request } = crux.client(owner)
    const body = { name: 'Over the top', role: 'owner' as 'admin' }
    await expect(request('service-accounts.create', { params: params(), body })).rejects.toMatchObject({ status: 400 })
    const { account, at } = await makeAccount('admin')
    const same = { name: account.name, role: 'user' as const }
    await expect(request('service-accounts.create', { params: params(), body: same })).rejects.toMatchObject({
      status: 409,
      property: 'name',
    })
    await call('service-accounts.delete', { params: at })
    await call('service-accounts.create', { params: params(), body: same })
  })

  it('acts with its role in its team, and its actions show its name, also after its deletion', async () => {
    const { account, at, me } = await makeAccount('admin', 'Builder')
    const { call } = crux.client(me)
    const node = await call('nodes.create', { params: params(), body: { name: 'Built by a robot' } })
    const project = await call('projects.create', { params: params(), body: { name: 'By robot', type: 'versioned' } })
    const inProject = { ...params(), projectId: project.id }
    const version = await call('versions.create', { params: inProject, body: { name: '1.0', type: 'rolling' } })
    const registry = await call('registries.create', {
      params: params(),
      body: { name: 'Local', type: 'unchecked', details: { local: true, public: true } },
    })
    const inVersion = { ...inProject, versionId: version.id }
    await call('images.create', { params: inVersion, body: [{ registryId: registry.id, images: ['a:1'] }] })
    const body = { versionId: version.id, nodeId: node.id, prefix: 'robot' }
    const made = await call('deployments.create', { params: params(), body })
    expect(made).toMatchObject({ updatedByName: 'Builder', audit: { createdBy: account.id } })

    await crux.client(admin).call('service-accounts.delete', { params: at })
    const query = { skip: 0, take: 10 }
    const { items } = await crux.client(admin).call('deployments.list', { params: params(), query })
    expect(items[0]).toMatchObject({ id: made.id, updatedByName: 'Builder' })
    const { rows } = await crux.app.database.pool.query(
      `select actor_type, actor_name from crux.audit_log where actor_id = $1 and event like '%deployments.create'`,
      [account.id],
    )
    expect(rows).toEqual([{ actorType: 'service-account', actorName: 'Builder' }])
  })

  it('loses the rights of its role at once, and all rights when it is deleted', async () => {
    const { account, at, me } = await makeAccount('admin')
    const { call } = crux.client(admin)
    const node = await call('nodes.create', { params: params(), body: { name: `Node of ${account.name}` } })
    await call('service-accounts.update', { params: at, body: { name: 'Lowered', role: 'user' } })
    await until(async () => (await deleteNode(me, node.id)).status === 403, 500)
    expect((await list()).find(({ id }) => id === account.id)).toMatchObject({ name: 'Lowered', role: 'user' })

    const { subscribe, closed } = await dial(crux.url, me.token)
    await subscribe(`/${team.slug}/nodes`)
    await call('service-accounts.delete', { params: at })
    expect(await closed).toBe(4401)
    expect((await deleteNode(me, node.id)).status).toBe(401)
    const body = { name: 'Too late', expirationInDays: 0 }
    await expect(
      crux.client(admin).request('service-accounts.create-token', { params: at, body }),
    ).rejects.toMatchObject({ status: 404 })
  })

  it('outlives its creator', async () => {
    const maker = await crux.addMember(team, 'admin')
    const { call } = crux.client(maker)
    const account = await call('service-accounts.create', { params: params(), body: { name: 'Orphan', role: 'user' } })
    const at = { ...params(), serviceAccountId: account.id }
    const body = { name: 'Pipeline', expirationInDays: 0 }
    const { token } = await call('service-accounts.create-token', { params: at, body })
    await crux.app.database.pool.query('delete from crux.team_member where user_id = $1', [maker.id])
    crux.people.disable(maker)
    crux.app.bus.publish({ type: 'member.changed', teamId: team.id, userId: maker.id })
    const answer = await crux.request(`/api/${team.slug}/nodes`, { as: { ...owner, token } })
    expect(answer.status).toBe(200)
  })

  it('has no rights outside of its team, and is not a user', async () => {
    const { me, at } = await makeAccount('admin')
    const other = await crux.createTeam(owner)
    expect((await crux.request(`/api/${other.slug}/nodes`, { as: me })).status).toBe(403)
    expect((await crux.request('/api/users/me', { method: 'POST', as: me })).status).toBe(403)
    const elsewhere = { ...at, teamSlug: other.slug }
    await expect(crux.client(owner).request('service-accounts.delete', { params: elsewhere })).rejects.toMatchObject({
      status: 404,
    })
  })

  it('revokes one token and keeps the others', async () => {
    const { at, token, me } = await makeAccount('user')
    const { call } = crux.client(admin)
    const second = await call('service-accounts.create-token', {
      params: at,
      body: { name: 'Second', expirationInDays: 0 },
    })
    await call('service-accounts.delete-token', { params: { ...at, tokenId: token.id } })
    const nodes = (as: Someone) => crux.request(`/api/${team.slug}/nodes`, { as })
    expect((await nodes(me)).status).toBe(401)
    expect((await nodes({ ...owner, token: second.token })).status).toBe(200)
    await expect(
      crux.client(admin).request('service-accounts.delete-token', { params: { ...at, tokenId: token.id } }),
    ).rejects.toMatchObject({ status: 404, property: 'tokenId' })
  })
})
