import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, getTestEnvironment, type SeededVersion } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { insertRelease, type ReleaseRow } from '../../test/release-rows.ts'
import { selectActivity } from './activity-store.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let version: SeededVersion
let nodeId: string
let added = 0

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())
beforeEach(async () => {
  const owner = server.signUp('Ada')
  testEnvironment = await getTestEnvironment(server, owner, await server.createTeam(owner))
  version = await testEnvironment.version()
  nodeId = (await testEnvironment.node()).id
})

const add = (...rows: ReleaseRow[]) =>
  Promise.all(rows.map((row) => insertRelease(testEnvironment, version, { nodeId, prefix: `p${++added}` }, row)))
const activity = (until: string, timeZone = 'UTC', days = 3) =>
  selectActivity(server.app, { teamId: testEnvironment.team.id, days, timeZone, until: new Date(until) })
const success = (finishedAt: string, tookMs?: number): ReleaseRow => ({
  status: 'successful',
  finishedAt,
  ...(tookMs !== undefined && { tookMs }),
})
const failure = (finishedAt: string, tookMs = 1_000): ReleaseRow => ({ status: 'failed', finishedAt, tookMs })

describe('the deployments per day', () => {
  it('count the releases that ended on each day, and name days without any', async () => {
    await add(
      success('2026-05-01T23:59:59Z'),
      success('2026-05-02T00:00:00Z'),
      failure('2026-05-02T12:00:00Z'),
      success('2026-05-04T01:00:00Z'),
      success('2026-05-05T00:00:00Z'),
      { status: 'in-progress', finishedAt: null, startedAt: '2026-05-04T02:00:00Z' },
    )
    expect((await activity('2026-05-04T12:00:00Z')).days).toEqual([
      { day: '2026-05-02', successful: 1, failed: 1 },
      { day: '2026-05-03', successful: 0, failed: 0 },
      { day: '2026-05-04', successful: 1, failed: 0 },
    ])
  })

  it('begin at midnight of the time zone, also where its offset has a quarter of an hour', async () => {
    await add(success('2026-05-02T18:14:59Z'), success('2026-05-02T18:15:00Z'))
    // Kathmandu is 5:45 ahead of UTC.
    expect((await activity('2026-05-03T12:00:00Z', 'Asia/Kathmandu', 2)).days).toEqual([
      { day: '2026-05-02', successful: 1, failed: 0 },
      { day: '2026-05-03', successful: 1, failed: 0 },
    ])
    // It is still the day before in New York.
    expect((await activity('2026-05-03T02:00:00Z', 'America/New_York', 1)).days).toEqual([
      { day: '2026-05-02', successful: 2, failed: 0 },
    ])
  })

  it.each([
    [
      '23 hours',
      '2026-03-28T22:59:59Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
      '2026-03-29T22:00:00Z',
      '2026-03-29',
    ],
    [
      '25 hours',
      '2026-10-24T21:59:59Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:59:59Z',
      '2026-10-25T23:00:00Z',
      '2026-10-25',
    ],
  ])('have %s on the day when the clocks change', async (_, before, first, last, after, day) => {
    await add(failure(before), success(first), success(last), failure(after))
    const { days } = await activity(after, 'Europe/Berlin')
    expect(days[1]).toEqual({ day, successful: 2, failed: 0 })
    expect([days[0]?.failed, days[2]?.failed]).toEqual([1, 1])
  })

  it('begin with the first midnight where the clock goes back to it', async () => {
    // At 01:00 of 26 October 2025 it was 00:00 again in the Azores.
    await add(failure('2025-10-25T23:59:59Z'), success('2025-10-26T00:00:00Z'), success('2025-10-27T00:59:59Z'))
    await add(failure('2025-10-27T01:00:00Z'))
    expect((await activity('2025-10-27T12:00:00Z', 'Atlantic/Azores')).days).toEqual([
      { day: '2025-10-25', successful: 0, failed: 1 },
      { day: '2025-10-26', successful: 2, failed: 0 },
      { day: '2025-10-27', successful: 0, failed: 1 },
    ])
  })

  it('never count deployments of another team', async () => {
    const other = server.signUp('Eve')
    const others = await getTestEnvironment(server, other, await server.createTeam(other))
    const theirs = { nodeId: (await others.node()).id, prefix: 'p' }
    await insertRelease(others, await others.version(), theirs, success('2026-05-04T01:00:00Z'))
    expect(await activity('2026-05-04T12:00:00Z', 'UTC', 1)).toEqual({
      days: [{ day: '2026-05-04', successful: 0, failed: 0 }],
      medianMs: null,
      previousMedianMs: null,
      medianLimited: false,
    })
    await expect(
      other && server.client(other).request('dashboard.activity', { params: testEnvironment.params, query: {} }),
    ).rejects.toMatchObject({ status: 403 })
  })

  it('are those of the last 30 days without a number, and at most 90', async () => {
    await add({ status: 'successful' })
    const ask = (query: object) =>
      testEnvironment.client.request('dashboard.activity', { params: testEnvironment.params, query })
    const { days } = await testEnvironment.client.call('dashboard.activity', {
      params: testEnvironment.params,
      query: {},
    })
    expect(days).toHaveLength(30)
    expect(days.at(-1)).toMatchObject({ day: new Date().toISOString().slice(0, 10), successful: 1 })
    for (const query of [{ days: 0 }, { days: 91 }, { days: 'x' }])
      await expect(ask(query)).rejects.toMatchObject({ status: 400, property: 'days' })
    for (const timeZone of ['Nowhere/Else', '+01:00', "UTC'; --"])
      await expect(ask({ timeZone })).rejects.toMatchObject({ status: 400, property: 'timeZone' })
  })
})

describe('the median time', () => {
  it('is that of successful releases, from dispatch to end, beside that of as many days before', async () => {
    await add(
      success('2026-05-02T00:00:00Z', 1_000),
      success('2026-05-03T10:00:00Z', 3_000),
      success('2026-05-04T10:00:00Z', 10_000),
      failure('2026-05-04T10:00:00Z', 600_000),
      // The three days before, and one that is older than both.
      success('2026-04-29T00:00:00Z', 4_000),
      success('2026-05-01T23:59:59Z', 8_000),
      success('2026-04-28T23:59:59Z', 500_000),
    )
    expect(await activity('2026-05-04T12:00:00Z')).toMatchObject({ medianMs: 3_000, previousMedianMs: 6_000 })
  })

  it('is that of the newest 1,000 of each range, and says so', async () => {
    /** More releases of one deployment, with numbers from `from`. */
    const addMany = (from: number, to: number, { finishedAt, tookMs }: ReleaseRow) =>
      server.app.database.pool.query(
        `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
           status, started_at, dispatched_at, finished_at, started_by_id, started_by_name)
         select deployment_id, n, team_id, project_id, node_id, prefix, version_name, project_name, status,
           $4, $4::timestamptz - $5::int * interval '1 millisecond', $4, started_by_id, started_by_name
         from crux.release, generate_series($2::int, $3::int) n where team_id = $1 and number = 1`,
        [testEnvironment.team.id, from, to, finishedAt, tookMs],
      )
    await add(success('2026-04-01T00:00:00Z'))
    await addMany(2, 1_000, success('2026-05-03T10:00:00Z', 2_000))
    expect(await activity('2026-05-04T12:00:00Z')).toMatchObject({ medianMs: 2_000, medianLimited: false })
    await addMany(1_001, 4_000, success('2026-05-02T10:00:00Z', 7_000))
    const { days, ...median } = await activity('2026-05-04T12:00:00Z')
    expect(median).toEqual({ medianMs: 2_000, previousMedianMs: null, medianLimited: true })
    expect(days.map(({ successful }) => successful)).toEqual([3_000, 999, 0])
    expect(await activity('2026-05-07T12:00:00Z')).toMatchObject({ previousMedianMs: 2_000, medianLimited: true })
  })

  it('leaves out releases that never reached an agent', async () => {
    await add(success('2026-05-04T10:00:00Z', 2_000), success('2026-05-04T10:00:00Z', 9_000))
    await server.app.database.pool.query(
      `update crux.release set dispatched_at = null where team_id = $1 and dispatched_at < '2026-05-04T09:59:55Z'`,
      [testEnvironment.team.id],
    )
    expect(await activity('2026-05-04T12:00:00Z')).toMatchObject({ medianMs: 2_000, previousMedianMs: null })
  })
})
