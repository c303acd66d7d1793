import { limits } from '@crux/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type FreezeWrite, frozenNow, inDays, makeEnvironment } from '../../test/freeze-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { findFreezes, listFreezeWindows, listWithFreezeWindows } from './index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let other: DeployTestEnvironment
let target: { nodeId: string; prefix: string }
let environment: Awaited<ReturnType<typeof makeEnvironment>>
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  other = await makeDeployTestEnvironment(server)
})
beforeEach(async () => {
  target = { nodeId: (await testEnvironment.node()).id, prefix: 'shop' }
  environment = await makeEnvironment(testEnvironment, target)
})
afterAll(() => server.stop())

const weekly: FreezeWrite = {
  kind: 'weekly',
  reason: 'Weekend',
  days: [6, 7],
  from: '18:00',
  to: '06:00',
  timeZone: 'Europe/Budapest',
}
const list = () => listFreezeWindows(server.app.database.pool, environment.path.environmentId)
const freezes = (targets = [target]) => findFreezes(server.app.database.pool, targets, new Date())
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { status: number; property?: string }) => `${error.status} ${error.property}`,
  )

describe('a freeze window', () => {
  it('is created, listed, updated into the other kind, and deleted', async () => {
    const made = await environment.freeze({ ...weekly, days: [7, 6, 7] })
    expect(made).toMatchObject({ ...weekly, days: [6, 7], createdBy: testEnvironment.owner.id })
    const once = { kind: 'once' as const, reason: 'Fair', from: inDays(1), to: inDays(2) }
    await environment.update(made.id, once)
    expect(await list()).toEqual([
      { id: made.id, ...once, createdBy: testEnvironment.owner.id, createdAt: expect.any(Date) },
    ])
    await environment.remove(made.id)
    expect(await list()).toEqual([])
    expect(await outcome(environment.remove(made.id))).toBe('404 windowId')
    expect(await outcome(environment.update(made.id, weekly))).toBe('404 windowId')
  })

  it.each<[string, string, FreezeWrite]>([
    ['an unknown time zone', 'timeZone', { ...weekly, timeZone: 'Mars/Olympus' }],
    ['an end before its beginning', 'to', { ...frozenNow(), kind: 'once', from: inDays(2), to: inDays(1) }],
    ['an end that has passed', 'to', { ...frozenNow(), kind: 'once', from: inDays(-2), to: inDays(-1) }],
    ['no days', 'days', { ...weekly, days: [] }],
    ['a day that does not exist', 'days[0]', { ...weekly, days: [8] }],
    ['a time that does not exist', 'from', { ...weekly, from: '24:00' }],
    ['a reason of spaces', 'reason', { ...weekly, reason: '   ' }],
    ['a reason that is too long', 'reason', { ...weekly, reason: 'x'.repeat(limits.freezeReason.max + 1) }],
  ])('with %s is refused at %s, also as an update', async (_, property, body) => {
    expect(await outcome(environment.freeze(body))).toBe(`400 ${property}`)
    const { id } = await environment.freeze(weekly)
    expect(await outcome(environment.update(id, body))).toBe(`400 ${property}`)
  })

  it('keeps a reason as it was typed', async () => {
    const reason = `<img src=x onerror=alert(1)> {{7*7}} '; drop table crux.team; -- \u202e`
    await environment.freeze(frozenNow(reason))
    expect((await list())[0]?.reason).toBe(reason)
    expect((await freezes())[0]?.reason).toBe(reason)
  })

  it('is edited by admins only, which also holds for their tokens', async () => {
    const user = server.client(await server.addMember(testEnvironment.team, 'user'))
    const admin = server.client(await server.addMember(testEnvironment.team, 'admin'))
    const { id } = await environment.freeze(weekly, admin)
    await expect(environment.freeze(weekly, user)).rejects.toMatchObject({ status: 403 })
    await expect(environment.update(id, weekly, user)).rejects.toMatchObject({ status: 403 })
    await expect(environment.remove(id, user)).rejects.toMatchObject({ status: 403 })
    expect(await list()).toHaveLength(1)
  })

  it('of another team, package or environment is not found', async () => {
    const { id } = await environment.freeze(weekly)
    const second = await makeEnvironment(testEnvironment, { ...target, prefix: 'second' })
    const foreign = await makeEnvironment(other, { nodeId: (await other.node()).id, prefix: 'shop' })
    const { client } = testEnvironment
    const remove = (path: Partial<typeof environment.path>) =>
      outcome(client.call('packages.delete-freeze-window', { params: { ...environment.path, windowId: id, ...path } }))
    expect(await outcome(second.remove(id))).toBe('404 windowId')
    expect(await remove({ packageId: second.path.packageId })).toBe('404 environmentId')
    expect(await remove({ packageId: foreign.path.packageId, environmentId: foreign.path.environmentId })).toBe(
      '404 environmentId',
    )
    const foreignPath = { ...foreign.path, ...testEnvironment.params }
    expect(await outcome(client.call('packages.create-freeze-window', { params: foreignPath, body: weekly }))).toBe(
      '404 environmentId',
    )
    expect(await list()).toHaveLength(1)
  })

  it('is one of a limited number, also when two admins create the last one at the same moment', async () => {
    for (let count = 1; count < limits.freezeWindows; count++) await environment.freeze(weekly)
    const outcomes = await Promise.all([outcome(environment.freeze(weekly)), outcome(environment.freeze(weekly))])
    expect(outcomes.sort()).toEqual(['412 freezeWindows', 'ok'])
    expect(await list()).toHaveLength(limits.freezeWindows)
  })
})

describe('findFreezes', () => {
  it('finds the freeze of each target, in their order, of all environments with this node and prefix', async () => {
    const second = await makeEnvironment(testEnvironment, target)
    const free = { ...target, prefix: 'free' }
    await environment.freeze(frozenNow('A'))
    await second.freeze({ kind: 'once', reason: 'B', from: inDays(-1), to: inDays(2) })
    const [none, found] = await freezes([free, target])
    expect(none).toBeUndefined()
    expect(found?.reason).toBe('B')
    expect(found?.environments.sort()).toEqual([environment.name, second.name].sort())
    expect(await freezes([])).toEqual([])
  })

  it('ignores an environment of another team that names this node', async () => {
    const foreign = await makeEnvironment(other, target)
    await foreign.freeze(frozenNow())
    expect(await freezes()).toEqual([undefined])
  })

  it('freezes while a stored window cannot be evaluated', async () => {
    const { id } = await environment.freeze(weekly)
    await server.app.database.pool.query('update crux.freeze_window set time_zone = null, days = null where id = $1', [
      id,
    ])
    const [freeze] = await freezes()
    expect(freeze?.reason).toContain('cannot be evaluated')
    expect(await list()).toHaveLength(1)
  })
})

describe('listWithFreezeWindows', () => {
  const has = async () => {
    const other = await makeEnvironment(testEnvironment, { ...target, prefix: 'other' })
    const ids = [environment.path.environmentId, other.path.environmentId]
    const found = await listWithFreezeWindows(server.app.database.pool, ids)
    expect(found.has(other.path.environmentId)).toBe(false)
    return found.has(environment.path.environmentId)
  }

  it('counts windows that freeze now or later, not those that have ended', async () => {
    expect(await has()).toBe(false)
    const { id } = await environment.freeze(weekly)
    expect(await has()).toBe(true)
    await environment.update(id, { kind: 'once', reason: 'x', from: inDays(5), to: inDays(6) })
    expect(await has()).toBe(true)
    await server.app.database.pool.query(
      `update crux.freeze_window set starts_at = now() - interval '2 days', ends_at = now() - interval '1 day' where id = $1`,
      [id],
    )
    expect(await has()).toBe(false)
  })
})

it('editing windows is recorded in the audit log', async () => {
  const { id } = await environment.freeze(weekly)
  await environment.remove(id)
  const { client, params } = testEnvironment
  const items = await until(async () => {
    const query = { skip: 0, take: 100, from: inDays(-1), to: inDays(1) }
    const page = await client.call('audit-log.list', { params, query })
    const own = page.items.filter(({ data }) => JSON.stringify(data).includes(environment.path.environmentId))
    return own.length === 2 ? own : undefined
  })
  expect(items.map(({ event }) => event).sort()).toEqual([
    'freeze-window packages.create-freeze-window',
    'freeze-window packages.delete-freeze-window',
  ])
})
