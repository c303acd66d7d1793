import { contract, type EndpointSpec, type Operation } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from '../../test/kit/test-environment.ts'

let crux: TestServer
let ada: Someone
let testEnvironment: TestEnvironment
let team: TestTeam

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.people.signIn(crux.signUp('Ada Byron'), { aal: 'aal2' })
  testEnvironment = await makeTestEnvironment(crux, ada)
  team = { id: testEnvironment.teamId, slug: testEnvironment.teamSlug, name: '' }
})
afterAll(() => crux.stop())

const assertAllowed = (secondFactorRequired: boolean, as = ada) =>
  crux.client(as).call('teams.update-security', {
    params: { teamId: team.id },
    body: { secondFactorRequired, allowedDomains: [] },
  })
const refusal = { status: 403, property: 'secondFactor' }
const rows = Object.entries(contract) as [Operation, EndpointSpec][]
const toPath = (row: EndpointSpec) =>
  row.path.replace(/:(\w+)/g, (_, name: string) => (testEnvironment as Record<string, string>)[name] ?? '1')

describe('a team that requires a second factor', () => {
  it('is set up only by an owner who has one', async () => {
    const weak = crux.people.signIn(ada)
    await expect(assertAllowed(true, weak)).rejects.toMatchObject({ status: 412, property: 'secondFactorRequired' })
    await assertAllowed(true)
    expect((await crux.client(ada).call('teams.get', { params: { teamId: team.id } })).security).toEqual({
      secondFactorRequired: true,
      allowedDomains: [],
    })
  })

  it('refuses every request but leaving to a session without one', async () => {
    await assertAllowed(true)
    const member = await crux.addMember(team, 'owner')
    await until(async () => {
      const answer = await crux.request(`/api/${team.slug}/projects`, { as: member })
      return answer.status === 403
    }, 1_000)
    const inTeam = rows.filter(
      ([, row]) =>
        /:team(Slug|Id)/.test(row.path) &&
        !['install-token', 'registry-hook', 'pipeline-hook', 'session'].includes(row.permission),
    )
    expect(inTeam.length).toBeGreaterThan(60)
    const letThrough: string[] = []
    for (const [operation, row] of inTeam) {
      if (operation === 'teams.leave') continue
      const answer = await crux.request(toPath(row), { method: row.method, as: member })
      const body = (await answer.json()) as { property?: string }
      if (answer.status !== 403 || body.property !== 'secondFactor') letThrough.push(operation)
    }
    expect(letThrough).toEqual([])
    await crux.client(member).call('teams.leave', { params: { teamId: team.id } })
  })

  it('shows only its name to members without one', async () => {
    await assertAllowed(true)
    const member = await crux.addMember(team, 'user')
    const client = crux.client(member)
    expect((await client.call('users.me')).teams).toMatchObject([{ id: team.id, role: 'user' }])
    const [shown] = await client.call('teams.list')
    expect(shown).toMatchObject({ id: team.id, security: { secondFactorRequired: true } })
    expect(shown?.users.map(({ id }) => id)).toEqual([member.id])
    expect(shown?.statistics).toEqual({ users: 1, projects: 0, nodes: 0, versions: 0, deployments: 0 })
  })

  it('accepts the same user as soon as they use one', async () => {
    await assertAllowed(true)
    const member = await crux.addMember(team, 'user')
    const list = (as: Someone) => crux.client(as).call('projects.list', { params: { teamSlug: team.slug } })
    await expect(list(member)).rejects.toMatchObject(refusal)
    expect(await list(crux.people.signIn(member, { aal: 'aal2' }))).toHaveLength(1)
    // The same session with a second factor: its cached state does not count for a refusal.
    crux.people.raise(member)
    expect(await list(member)).toHaveLength(1)
  })

  it('ends live streams of sessions without one, and opens none', async () => {
    await assertAllowed(false)
    const member = await crux.addMember(team, 'user')
    const open = async (as: Someone) => {
      const failures: { status: number }[] = []
      const live = crux.live(as)
      live.onError((failure) => failures.push(failure))
      const node = live.channel('node', { teamSlug: team.slug, nodeId: testEnvironment.nodeId })
      return { node, failures }
    }
    const [weak, strong] = [await open(member), await open(ada)]
    await until(() => weak.node.status === 'subscribed' && strong.node.status === 'subscribed')
    const before = Date.now()
    await assertAllowed(true)
    await until(() => weak.node.status === 'failed')
    expect(Date.now() - before).toBeLessThan(2_000)
    expect(weak.failures).toMatchObject([{ status: 403 }])
    expect(strong.node.status).toBe('subscribed')
    const again = await open(member)
    await until(() => again.node.status === 'failed')
    await assertAllowed(false)
    const last = await open(member)
    await until(() => last.node.status === 'subscribed')
  })

  it('records refused users', async () => {
    await assertAllowed(true)
    const member = await crux.addMember(team, 'admin')
    const create = crux.client(member).call('projects.create', {
      params: { teamSlug: team.slug },
      body: { name: 'Secret', type: 'versioned' },
    })
    await expect(create).rejects.toMatchObject(refusal)
    const { rows: entries } = await crux.app.database.pool.query(
      'select event, accepted from crux.audit_log where actor_id = $1',
      [member.id],
    )
    expect(entries).toEqual([{ event: 'project projects.create', accepted: false }])
    await assertAllowed(false)
  })
})

describe('a session that was opened by a code', () => {
  it('may only read its own user, answer its invitations and set a password', async () => {
    const grace = crux.people.signIn(crux.signUp('Grace Hopper'), { recovered: true })
    const own = rows.filter(([, row]) => row.permission === 'session')
    const letThrough: string[] = []
    for (const [operation, row] of own) {
      const answer = await crux.request(toPath(row), { method: row.method, as: grace })
      if (answer.status !== 403 || ((await answer.json()) as { property?: string }).property !== 'recovered')
        letThrough.push(operation)
    }
    expect(letThrough.sort()).toEqual([
      'auth.change-password',
      'auth.edit-profile',
      'auth.link-provider',
      'auth.unlink-provider',
      'users.accept-invitation',
      'users.decline-invitation',
      'users.me',
    ])
    const member = crux.people.signIn(await crux.addMember(team, 'user'), { recovered: true })
    await expect(crux.client(member).call('projects.list', { params: { teamSlug: team.slug } })).rejects.toMatchObject({
      status: 403,
      property: 'recovered',
    })
  })
})
