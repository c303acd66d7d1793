import type { TeamRole } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { makeTestEnvironment } from '../../test/kit/test-environment.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
})
afterAll(() => crux.stop())

const changeRole = (as: Someone, of: Someone, role: TeamRole, at = team) =>
  crux.client(as).call('teams.change-role', { params: { teamId: at.id, userId: of.id }, body: { role } })
const remove = (as: Someone, userId: string, at = team) =>
  crux.client(as).call('teams.remove-user', { params: { teamId: at.id, userId } })
const leave = (as: Someone, at = team) => crux.client(as).call('teams.leave', { params: { teamId: at.id } })
const roles = async (at = team) => {
  const { rows } = await crux.app.database.pool.query<{ id: string; role: string }>(
    'select user_id as id, role from crux.team_member where team_id = $1',
    [at.id],
  )
  return new Map(rows.map(({ id, role }) => [id, role]))
}

/** A live page of the team's node, and the refusals of the server on it. */
async function watchNode(someone: Someone, { teamSlug, nodeId }: { teamSlug: string; nodeId: string }) {
  const live = crux.live(someone)
  const failures: { status: number; error?: string | undefined }[] = []
  live.onError((failure) => failures.push(failure))
  const node = live.channel('node', { teamSlug, nodeId })
  await new Promise<void>((resolve) => node.onReady(resolve))
  return { node, failure: (count = 1) => until(() => failures[count - 1]) }
}

describe('roles of members', () => {
  it('are changed by owners only, to any role, at once', async () => {
    const [admin, user] = [await crux.addMember(team, 'admin'), await crux.addMember(team, 'user')]
    await expect(changeRole(admin, user, 'admin')).rejects.toMatchObject({ status: 403, error: 'forbidden' })
    await changeRole(ada, user, 'admin')
    expect((await roles()).get(user.id)).toBe('admin')
    const params = { teamSlug: team.slug }
    const mayEditNodes = () =>
      crux
        .client(user)
        .call('nodes.create', { params, body: { name: 'ab' } })
        .catch((error) => error.status === 400)
    await until(mayEditNodes, 1_000)
    await changeRole(ada, user, 'user')
    await until(async () => !(await mayEditNodes()), 1_000)
  })

  it('transfer the ownership, and are never taken from the last owner', async () => {
    const own = await crux.createTeam(ada)
    const heir = await crux.addMember(own, 'user')
    await expect(changeRole(ada, ada, 'admin', own)).rejects.toMatchObject({ status: 412, property: 'role' })
    await changeRole(ada, heir, 'owner', own)
    await changeRole(heir, ada, 'user', own)
    expect([...(await roles(own))]).toEqual([
      [ada.id, 'user'],
      [heir.id, 'owner'],
    ])
    await expect(changeRole(heir, heir, 'admin', own)).rejects.toMatchObject({ status: 412, property: 'role' })
  })

  it('of users of other teams and of unknown users are not found', async () => {
    const stranger = crux.signUp()
    await expect(changeRole(ada, stranger, 'user')).rejects.toMatchObject({ status: 404, property: 'userId' })
  })
})

describe('leaving a team', () => {
  it('ends every right at once', async () => {
    const user = await crux.addMember(team, 'user')
    const list = () => crux.client(user).call('projects.list', { params: { teamSlug: team.slug } })
    expect(await list()).toEqual([])
    await leave(user)
    const isRefused = () =>
      list().then(
        () => false,
        (error) => error.status === 403,
      )
    await until(isRefused, 1_000)
    expect((await crux.client(user).call('users.me')).teams).toEqual([])
  })

  it('is refused to the last owner, also when two owners leave at once', async () => {
    await expect(leave(ada)).rejects.toMatchObject({ status: 412, property: 'userId' })
    for (let round = 0; round < 10; round++) {
      const own = await crux.createTeam(ada)
      const other = await crux.addMember(own, 'owner')
      const outcomes = await Promise.allSettled([
        leave(ada, own),
        round % 2 ? leave(other, own) : changeRole(other, other, 'user', own),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect([...(await roles(own)).values()].filter((role) => role === 'owner')).toHaveLength(1)
    }
  })
})

describe('removing a member', () => {
  it('is possible for members, and refused for owners', async () => {
    const [admin, user, owner] = [
      await crux.addMember(team, 'admin'),
      await crux.addMember(team, 'user'),
      await crux.addMember(team, 'owner'),
    ]
    await expect(remove(user, admin.id)).rejects.toMatchObject({ status: 403 })
    await remove(admin, user.id)
    expect((await roles()).has(user.id)).toBe(false)
    await expect(remove(admin, user.id)).rejects.toMatchObject({ status: 404, property: 'userId' })
    await expect(remove(admin, owner.id)).rejects.toMatchObject({ status: 403, property: 'userId' })
    await expect(remove(ada, ada.id)).rejects.toMatchObject({ status: 403, property: 'userId' })
    await changeRole(ada, owner, 'user')
    await remove(admin, owner.id)
  })

  it('ends live subscriptions at once, as a lower role and leaving do', async () => {
    const testEnvironment = await makeTestEnvironment(crux, ada)
    const place = { id: testEnvironment.teamId, slug: testEnvironment.teamSlug, name: '' }
    const member = await crux.addMember(place, 'admin')
    const { node, failure } = await watchNode(member, testEnvironment)
    await changeRole(ada, member, 'user', place)
    node.send('delete-container', { container: { prefix: 'shop', name: 'web' } })
    expect(await failure(1)).toMatchObject({ status: 403, error: 'forbidden' })
    await remove(ada, member.id, place)
    expect(await failure(2)).toMatchObject({ status: 403 })
    await until(() => node.status === 'failed')
  })
})

describe('deleting a team', () => {
  it('deletes all of its data, disconnects its agents, and is for owners only', async () => {
    const testEnvironment = await makeTestEnvironment(crux, ada)
    const place = { id: testEnvironment.teamId, slug: testEnvironment.teamSlug, name: '' }
    const admin = await crux.addMember(place, 'admin')
    const params = { teamId: testEnvironment.teamId }
    await expect(crux.client(admin).call('teams.delete', { params })).rejects.toMatchObject({ status: 403 })
    const closed: string[] = []
    const stop = crux.app.bus.on('node.close', ({ nodeId, reason }) => closed.push(`${nodeId} ${reason}`))
    const { failure } = await watchNode(admin, testEnvironment)
    await crux.client(ada).call('teams.delete', { params })
    await until(() => closed.includes(`${testEnvironment.nodeId} token-revoked`))
    stop()
    expect(await failure()).toMatchObject({ status: 403 })
    await expect(crux.client(ada).call('teams.get', { params })).rejects.toMatchObject({ status: 404 })
    const tables = ['project', 'node', 'registry', 'deployment', 'audit_log', 'team_member', 'deployment_count']
    for (const table of [...tables, 'config_bundle', 'storage']) {
      const { rows } = await crux.app.database.pool.query(`select 1 from crux.${table} where team_id = $1`, [place.id])
      expect([table, rows]).toEqual([table, []])
    }
    const { rows } = await crux.app.database.pool.query(
      `select c.id from crux.container_config c left join crux.image i on i.id = c.image_id
        left join crux.instance n on n.id = c.instance_id left join crux.deployment d on d.id = c.deployment_id
        left join crux.config_bundle b on b.id = c.config_bundle_id
        where i.id is null and n.id is null and d.id is null and b.id is null`,
    )
    expect(rows).toEqual([])
  })

  it('is refused until the end of a deployment', async () => {
    const testEnvironment = await makeTestEnvironment(crux, ada)
    await crux.app.database.pool.query(`update crux.deployment set status = 'in-progress' where id = $1`, [
      testEnvironment.deploymentId,
    ])
    const params = { teamId: testEnvironment.teamId }
    await expect(crux.client(ada).call('teams.delete', { params })).rejects.toMatchObject({
      status: 412,
      property: 'deployments',
    })
    expect((await crux.client(ada).call('teams.get', { params })).statistics.deployments).toBe(1)
  })

  it('is refused, like leaving, on an installation that keeps its teams', async () => {
    const kept = await startTestServer({
      database: crux.database,
      people: crux.people,
      config: { teamCreationDisabled: true },
    })
    const own = await crux.createTeam(ada)
    const user = await crux.addMember(own, 'user')
    const params = { teamId: own.id }
    await expect(kept.client(user).call('teams.leave', { params })).rejects.toMatchObject({ status: 403 })
    await expect(kept.client(ada).call('teams.delete', { params })).rejects.toMatchObject({ status: 403 })
    expect((await kept.client(ada).call('users.me')).teamCreation).toBe(false)
    await kept.stop({ database: true })
  })
})
