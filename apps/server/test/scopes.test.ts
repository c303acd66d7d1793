import {
  type ChannelName,
  isAllowed,
  liveChannels,
  type Operation,
  type Permission,
  scopeCovers,
  scopeOfEndpoint,
  scopeOfPermission,
  tokenScopes,
} from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dial } from './kit/dial.ts'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'
import { createInit, getRow, operations, toPath } from './kit/requests.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

let crux: TestServer
let owner: Someone
let ours: TestEnvironment
let elsewhere: TestEnvironment
/** Tokens of the team's owner by scope, and of service accounts by role, all with the full scope. */
const user: Record<string, Someone> = {}
const account: Record<string, Someone> = {}
let deploymentToken: Someone

beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Owner')
  ours = await makeTestEnvironment(crux, owner)
  elsewhere = await makeTestEnvironment(crux, crux.signUp('Stranger'))
  const { call } = crux.client(owner)
  const params = { teamSlug: ours.teamSlug }
  for (const scope of tokenScopes) {
    const { token } = await call('tokens.create', { body: { name: `Only ${scope}`, scope, expirationInDays: 0 } })
    user[scope] = { ...owner, token }
  }
  for (const role of ['admin', 'user'] as const) {
    const { id } = await call('service-accounts.create', { params, body: { name: `Robot ${role}`, role } })
    const at = { ...params, serviceAccountId: id }
    const body = { name: 'Full', expirationInDays: 0 }
    account[role] = { ...owner, token: (await call('service-accounts.create-token', { params: at, body })).token }
  }
  const at = { ...params, deploymentId: ours.deploymentId }
  await crux.app.database.pool.query(`update crux.version set type = 'rolling' where id = $1`, [ours.versionId])
  const { token } = await call('deployments.create-token', { params: at, body: { name: 'Rolling' } })
  deploymentToken = { ...owner, token }
})
afterAll(() => crux.stop())

const closed = operations.filter(
  (operation) => !['public', 'install-token', 'registry-hook', 'pipeline-hook'].includes(getRow(operation).permission),
)
const inTeam = closed.filter((operation) => getRow(operation).permission !== 'session')
const getPermission = (operation: Operation) => getRow(operation).permission as Permission
const nowhere = '01a1fe69-35bc-702a-a798-000000000000'

/** Valid requests that the guard refuses, or accepts and then finds nothing, so that tests do not change the test environment. */
async function ask(operation: Operation, as: Someone) {
  const needed = scopeOfEndpoint(getRow(operation))
  const ids = Object.keys(ours).filter((name) => name.endsWith('Id') && name !== 'teamId')
  const testEnvironment =
    needed === 'read' ? ours : { ...ours, ...Object.fromEntries(ids.map((name) => [name, nowhere])) }
  const body = getRow(operation).body ? { body: '{}', headers: { 'content-type': 'application/json' } } : {}
  const answer = await crux.request(toPath(operation, testEnvironment), {
    method: getRow(operation).method,
    ...body,
    as,
  })
  const text = await answer.text()
  const { property } = answer.status >= 400 ? (JSON.parse(text) as { property?: string }) : {}
  return { status: answer.status, property }
}
const refusedToken = { status: 403, property: 'token' }

describe("a user's token", () => {
  const cases = closed.flatMap((operation) => tokenScopes.map((scope) => [operation, scope] as const))
  it.each(cases)('%s with the scope %s follows the contract', async (operation, scope) => {
    const needed = scopeOfEndpoint(getRow(operation))
    const answer = await ask(operation, user[scope] as Someone)
    if (needed === undefined || !scopeCovers(scope, needed)) return expect(answer).toEqual(refusedToken)
    expect(answer).not.toEqual(refusedToken)
    expect([401, 403]).not.toContain(answer.status)
    expect(answer.status).toBeLessThan(500)
  })
})

describe("a service account's token", () => {
  const cases = closed.flatMap((operation) => (['admin', 'user'] as const).map((role) => [operation, role] as const))
  it.each(cases)('%s with the role %s follows the policy', async (operation, role) => {
    const answer = await ask(operation, account[role] as Someone)
    const isForUsers = getRow(operation).permission === 'session'
    if (isForUsers || scopeOfEndpoint(getRow(operation)) === undefined) return expect(answer).toEqual(refusedToken)
    if (isAllowed(role, getPermission(operation))) expect([401, 403]).not.toContain(answer.status)
    else expect(answer).toEqual({ status: 403, property: undefined })
  })

  it.each(inTeam)("%s reveals nothing of another team's existence", async (operation) => {
    const answers = [elsewhere, { ...elsewhere, teamSlug: 'no-such-team', teamId: nowhere }].map(
      async (testEnvironment) => {
        const answer = await crux.request(toPath(operation, testEnvironment), {
          ...createInit(operation, testEnvironment),
          as: account.admin,
        })
        const { requestId: _, ...body } = (await answer.json()) as Record<string, unknown>
        return { status: answer.status, body }
      },
    )
    const [theirs, none] = await Promise.all(answers)
    expect([403, 404]).toContain(theirs?.status)
    expect(theirs).toEqual(none)
  })
})

describe("a deployment's token", () => {
  it.each(closed.filter((operation) => operation !== 'deployments.start'))('%s is refused', async (operation) => {
    expect(await ask(operation, deploymentToken)).toEqual(refusedToken)
  })

  it('is accepted by the guard at the start of its own deployment', async () => {
    const answer = await crux.request(toPath('deployments.start', ours), { method: 'POST', as: deploymentToken })
    // The node of this test environment is not connected.
    expect(answer.status).toBe(412)
  })
})

describe('live messages with a token', () => {
  const channels = Object.keys(liveChannels) as ChannelName[]
  const messages = channels.flatMap((channel) =>
    Object.entries(
      liveChannels[channel].client as Record<string, { permission: Permission; audit: string | false }>,
    ).map(([type, spec]) => [channel, type, spec] as const),
  )
  const pathIn = (channel: ChannelName) =>
    liveChannels[channel].path.replace(/:(\w+)/g, (_, name: string) => ours[name as keyof TestEnvironment] ?? '')

  it.each(messages)('%s/%s require the scope of their permission', async (channel, type, { permission, audit }) => {
    for (const scope of tokenScopes) {
      const { subscribe, send, next, socket } = await dial(crux.url, user[scope]?.token ?? '')
      const path = pathIn(channel)
      expect(await subscribe(path)).toMatchObject({ type: 'subbed' })
      if (scopeCovers(scope, scopeOfPermission(permission))) {
        socket.close()
        continue
      }
      const before = await refusals()
      send(`${path}/${type}`, {})
      const refused = await next((frame) => frame.type === 'error')
      expect(refused.data).toMatchObject({ status: 403, path })
      if (audit) await expect.poll(refusals).toBe(before + 1)
      socket.close()
    }
  })

  const refusals = async () => {
    const { rows } = await crux.app.database.pool.query<{ n: number }>(
      `select count(*)::int as n from crux.audit_log where context = 'ws' and not accepted`,
    )
    return rows[0]?.n ?? 0
  }
})
