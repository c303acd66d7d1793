import {
  type ChannelName,
  contract,
  isAllowed,
  liveChannels,
  type Operation,
  type Permission,
  type TeamRole,
} from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dial } from './kit/dial.ts'
import { type Someone, startTestServer, type TestServer, until } from './kit/index.ts'
import { bodies, createInit, getRow, operations, toPath } from './kit/requests.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

const inTeam = operations.filter((operation) => /:team(Slug|Id)/.test(getRow(operation).path))
/** The guard checks role and team of these; invitations are answered by users who are not in the team yet. */
const guarded = inTeam.filter(
  (operation) => !['install-token', 'registry-hook', 'pipeline-hook', 'session'].includes(getRow(operation).permission),
)
const changes = (operation: Operation) => getRow(operation).method !== 'GET'
const lower: Record<TeamRole, TeamRole[]> = { owner: ['admin', 'user'], admin: ['user'], user: [] }

describe('the guard', () => {
  let crux: TestServer
  let owner: Someone
  let stranger: Someone
  let ours: TestEnvironment
  let theirs: TestEnvironment

  beforeAll(async () => {
    crux = await startTestServer()
    owner = crux.signUp('Owner')
    stranger = crux.signUp('Stranger')
    ours = await makeTestEnvironment(crux, owner)
    theirs = await makeTestEnvironment(crux, stranger)
  })
  afterAll(() => crux.stop())

  const asked = new Set<string>()
  const ask = (operation: Operation, testEnvironment: TestEnvironment, as?: Someone, of = testEnvironment) => {
    asked.add(operation)
    return crux.request(toPath(operation, testEnvironment), { ...createInit(operation, of), ...(as && { as }) })
  }

  it('is tested with a valid body for every endpoint that requires one', () => {
    const missing = operations.filter((operation) => {
      const { body, permission } = getRow(operation)
      return body && permission !== 'public' && !body.safeParse(bodies(ours)[operation]).success
    })
    expect(missing).toEqual([])
  })

  it.each(operations.filter((operation) => !['public', 'install-token'].includes(getRow(operation).permission)))(
    '%s requires a session',
    async (operation) => {
      const answer = await ask(operation, ours)
      expect([answer.status, await answer.json()]).toMatchObject([401, { status: 401, error: 'unauthorized' }])
    },
  )

  it.each(guarded)("%s reveals nothing of another team's existence", async (operation) => {
    const answer = await ask(operation, ours, stranger)
    const nowhere = { ...ours, teamSlug: 'no-such-team', teamId: '01a1fe69-35bc-702a-a798-000000000000' }
    const unknown = await ask(operation, nowhere, stranger, ours)
    expect([403, 404]).toContain(answer.status)
    const { requestId: _, ...body } = (await answer.json()) as Record<string, unknown>
    const { requestId: __, ...other } = (await unknown.json()) as Record<string, unknown>
    expect(body).toEqual(other)
  })

  it.each(guarded.filter((operation) => /:(?!team)\w+Id/.test(getRow(operation).path)))(
    "%s does not accept another team's ids under its own slug",
    async (operation) => {
      const answer = await ask(operation, { ...theirs, teamSlug: ours.teamSlug, teamId: ours.teamId }, owner, ours)
      expect([answer.status, (await answer.json()) as object]).toMatchObject([404, { error: 'notFound' }])
    },
  )

  it.each(guarded.filter((operation) => /:projectId.*:\w+Id/.test(getRow(operation).path)))(
    '%s does not accept a version of another project',
    async (operation) => {
      const other = await crux.client(owner).call('projects.create', {
        params: { teamSlug: ours.teamSlug },
        body: { name: `Other of ${operation}`, type: 'versioned' },
      })
      const answer = await ask(operation, { ...ours, projectId: other.id }, owner)
      expect(answer.status).toBe(404)
    },
  )

  const tooLow = guarded.flatMap((operation) => {
    const { permission } = getRow(operation)
    const roles: TeamRole[] = ['user', 'admin', 'owner']
    const least = roles.find((role) => isAllowed(role, permission as never)) ?? 'owner'
    return lower[least].map((role) => [operation, role] as const)
  })
  it.each(tooLow)('%s is refused to the role %s, and the attempt is recorded', async (operation, role) => {
    const member = await crux.addMember({ id: ours.teamId, slug: ours.teamSlug, name: '' }, role)
    const answer = await ask(operation, ours, member)
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: 'forbidden' }])
    const { rows } = await crux.app.database.pool.query('select accepted from crux.audit_log where actor_id = $1', [
      member.id,
    ])
    expect(rows).toEqual(changes(operation) && getRow(operation).audit ? [{ accepted: false }] : [])
  })

  it('applies a lost role at once', async () => {
    const member = await crux.addMember({ id: ours.teamId, slug: ours.teamSlug, name: '' }, 'admin')
    expect((await ask('nodes.list', ours, member)).status).toBe(200)
    await crux.app.database.pool.query('delete from crux.team_member where user_id = $1', [member.id])
    crux.app.bus.publish({ type: 'member.changed', teamId: ours.teamId, userId: member.id })
    await until(async () => (await ask('nodes.list', ours, member)).status === 403, 1_000)
  })

  it('applies the end of a session at once', async () => {
    const member = await crux.addMember({ id: ours.teamId, slug: ours.teamSlug, name: '' }, 'admin')
    expect((await ask('nodes.list', ours, member)).status).toBe(200)
    await crux.signOut(member)
    await until(async () => (await ask('nodes.list', ours, member)).status === 401, 1_000)
  })

  describe('for live messages', () => {
    const channels = Object.keys(liveChannels) as ChannelName[]
    const livePath = (channel: ChannelName, testEnvironment: TestEnvironment) =>
      liveChannels[channel].path.replace(
        /:(\w+)/g,
        (_, name: string) => testEnvironment[name as keyof TestEnvironment] ?? '',
      )

    it.each(channels)("%s cannot be subscribed in another team, nor with another team's ids", async (channel) => {
      asked.add(channel)
      const { socket, frames, send, next } = await dial(crux.url, stranger.token)
      const paths = [livePath(channel, ours)]
      if (/:(?!team)\w+Id/.test(liveChannels[channel].path))
        paths.push(livePath(channel, { ...ours, teamSlug: theirs.teamSlug }))
      for (const path of paths) {
        send('subscribe', { path })
        await next((frame) => frame.type === 'sub-failed' && frame.data.path === path)
      }
      expect(frames.map((frame) => frame.type)).toEqual(paths.map(() => 'sub-failed'))
      socket.close()
    })

    const messages = channels.flatMap((channel) =>
      Object.entries(
        liveChannels[channel].client as Record<string, { permission: Permission; audit: string | false }>,
      ).map(([type, spec]) => [channel, type, spec] as const),
    )
    it.each(messages)(
      '%s/%s is ignored without a subscription, and refused to users who have left the team',
      async (channel, type) => {
        asked.add(`${channel}/${type}`)
        const member = await crux.addMember({ id: ours.teamId, slug: ours.teamSlug, name: '' }, 'user')
        const { socket, frames, send, next } = await dial(crux.url, member.token)
        const path = livePath(channel, ours)
        send(`${path}/${type}`, {})
        send('subscribe', { path })
        await next((frame) => frame.type === 'subbed')
        expect(frames.filter((frame) => frame.type === 'error')).toEqual([])
        await crux.app.database.pool.query('delete from crux.team_member where user_id = $1', [member.id])
        crux.app.bus.publish({ type: 'member.changed', teamId: ours.teamId, userId: member.id })
        send(`${path}/${type}`, {})
        await next((frame) => frame.type === 'sub-failed' && frame.data.path === path)
        socket.close()
      },
    )

    it.each(messages.filter(([, , { permission }]) => !isAllowed('user', permission)))(
      '%s/%s is refused to the role user',
      async (channel, type, { audit }) => {
        const member = await crux.addMember({ id: ours.teamId, slug: ours.teamSlug, name: '' }, 'user')
        const { socket, send, next } = await dial(crux.url, member.token)
        const path = livePath(channel, ours)
        send('subscribe', { path })
        await next((frame) => frame.type === 'subbed')
        send(`${path}/${type}`, { container: { prefix: 'shop', name: 'web' } })
        const refused = await next((frame) => frame.type === 'error')
        expect(refused.data).toMatchObject({ status: 403, error: 'forbidden', path })
        if (audit)
          await until(async () => {
            const { rows } = await crux.app.database.pool.query(
              'select accepted from crux.audit_log where actor_id = $1',
              [member.id],
            )
            return rows.length === 1 && rows[0].accepted === false
          })
        socket.close()
      },
    )
  })

  it('was asked for every endpoint that needs a session or a token, and for every live channel and message', () => {
    const endpoints = Object.entries(contract)
      .filter(([, { permission }]) => !['public', 'install-token'].includes(permission))
      .map(([operation]) => operation)
    const live = Object.entries(liveChannels).flatMap(([channel, { client }]) => [
      channel,
      ...Object.keys(client).map((type) => `${channel}/${type}`),
    ])
    expect([...endpoints, ...live].filter((name) => !asked.has(name))).toEqual([])
  })
})
