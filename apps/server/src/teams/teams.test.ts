import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'

describe('a team', () => {
  let crux: TestServer
  let ada: Someone

  beforeAll(async () => {
    crux = await startTestServer()
    ada = crux.signUp('Ada Byron')
  })
  afterAll(() => crux.stop())

  it('has its creator as the owner and the library of Docker Hub as a registry', async () => {
    const team = await crux.createTeam(ada, 'Analytical Engines')
    const me = await crux.client(ada).call('users.me')
    expect(me.user).toMatchObject({ name: 'Ada Byron', email: ada.email })
    expect(me.teams).toEqual([{ ...team, role: 'owner' }])
    const registries = await crux.client(ada).call('registries.list', { params: { teamSlug: team.slug } })
    expect(registries).toMatchObject([
      { name: 'Docker Hub Library', type: 'hub', imageUrlPrefix: 'hub.docker.com/library' },
    ])
    const { rows } = await crux.app.database.pool.query('select actor_name, event, accepted from crux.audit_log')
    expect(rows).toEqual([{ actorName: 'Ada Byron', event: 'team teams.create', accepted: true }])
  })

  it.each([
    ['ab', 'slug'],
    ['Has-Capitals', 'slug'],
    ['double--dash', 'slug'],
    ['-edge', 'slug'],
    ['teams', 'slug'],
    ['kratos', 'slug'],
  ])('refuses the slug %j', async (slug, property) => {
    const refused = crux.client(ada).call('teams.create', { body: { name: `Team ${slug}`, slug } })
    await expect(refused).rejects.toMatchObject({ status: 400, error: 'invalidArgument', property })
  })

  it('refuses a name and a slug that are taken, also by another team', async () => {
    const taken = await crux.createTeam(crux.signUp())
    const create = (name: string, slug: string) => crux.client(ada).call('teams.create', { body: { name, slug } })
    await expect(create(taken.name, 'free-slug')).rejects.toMatchObject({ status: 409, property: 'name' })
    await expect(create('Free name', taken.slug)).rejects.toMatchObject({ status: 409, property: 'slug' })
  })

  it('shows members by name, and is hidden from users of other teams', async () => {
    const team = await crux.createTeam(ada)
    const grace = await crux.addMember(team, 'user', 'Grace Hopper')
    const found = await crux.client(grace).call('teams.get', { params: { teamId: team.id } })
    expect(found.users.map(({ name, role }) => [name, role])).toEqual([
      ['Ada Byron', 'owner'],
      ['Grace Hopper', 'user'],
    ])
    expect((await crux.client(grace).call('teams.list')).map((entry) => entry.id)).toEqual([team.id])
    const stranger = crux.client(crux.signUp())
    expect(await stranger.call('teams.list')).toEqual([])
    await expect(stranger.call('teams.get', { params: { teamId: team.id } })).rejects.toMatchObject({
      status: 404,
      property: 'team',
    })
  })

  it('accepts a new name from admins, and a new slug from owners only', async () => {
    const team = await crux.createTeam(ada)
    const admin = await crux.addMember(team, 'admin')
    const update = (name: string, slug: string) =>
      crux.client(admin).call('teams.update', { params: { teamId: team.id }, body: { name, slug } })
    await update(`${team.name} 2`, team.slug)
    await expect(update(team.name, `${team.slug}x`)).rejects.toMatchObject({ status: 403, property: 'slug' })
    expect((await crux.client(ada).call('teams.get', { params: { teamId: team.id } })).name).toBe(`${team.name} 2`)
  })

  it('uses a new slug at once, and refuses to let users change it', async () => {
    const team = await crux.createTeam(ada)
    const user = await crux.addMember(team, 'user')
    const rename = (someone: Someone) =>
      crux
        .client(someone)
        .call('teams.update', { params: { teamId: team.id }, body: { name: `${team.name} 2`, slug: `${team.slug}x` } })
    await expect(rename(user)).rejects.toMatchObject({ status: 403, error: 'forbidden' })
    await rename(ada)
    expect(await crux.client(ada).call('registries.list', { params: { teamSlug: `${team.slug}x` } })).toHaveLength(1)
    const { rows } = await crux.app.database.pool.query(
      `select accepted from crux.audit_log where event = 'team teams.update' and team_id = $1 order by id`,
      [team.id],
    )
    expect(rows).toEqual([{ accepted: false }, { accepted: true }])
  })

  it('stores whether a member wants the first steps', async () => {
    const someone = crux.client(crux.signUp())
    expect((await someone.call('users.me')).onboarding).toBe(true)
    await someone.call('users.hide-onboarding')
    expect((await someone.call('users.me')).onboarding).toBe(false)
    await someone.call('users.show-onboarding')
    expect((await someone.call('users.me')).onboarding).toBe(true)
  })
})
