import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { countAll, countAllDays } from './count-store.ts'
import { dropEntriesBefore } from './retention.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp()
  team = await crux.createTeam(ada)
  await write(team.id, 3_000, 'random()')
})
afterAll(() => crux.stop())

const query = <R extends object>(text: string, values: unknown[]) =>
  crux.app.database.pool.query<R>(text, values).then(({ rows }) => rows)

/** Entries over ten days; every seventh was refused, every hundredth is exactly at the start of a quarter of an hour. */
const write = (teamId: string, count: number, when: string) =>
  query(
    `insert into crux.audit_log (team_id, created_at, actor_type, actor_id, actor_name, context, event, accepted)
     select $1, case when n % 100 = 0 then date_bin('15 minutes', t, '1970-01-01Z') else t end, 'user', 'a', 'A', 'http', 'a b', n % 7 <> 0
     from (select n, '2026-03-24T00:00:00Z'::timestamptz + ${when} * interval '10 days' as t from generate_series(1, $2::int) n) s`,
    [teamId, count],
  )

const ranges = [
  ['2026-03-24T00:00:00.000Z', '2026-04-04T00:00:00.000Z'],
  ['2026-03-25T10:15:00.000Z', '2026-03-25T10:15:00.000Z'],
  ['2026-03-25T10:16:00.000Z', '2026-03-25T10:20:00.000Z'],
  ['2026-03-25T10:07:31.412Z', '2026-03-25T10:29:59.999Z'],
  ['2026-03-25T10:15:00.000Z', '2026-03-25T10:30:00.000Z'],
  ['2026-03-26T01:07:31.412+05:45', '2026-03-30T22:44:59.001-03:30'],
  ['2026-03-30T00:00:00.000Z', '2026-03-25T00:00:00.000Z'],
] as const

describe('the counters of the audit log', () => {
  it.each(ranges)('match the entries from %s to %s', async (from, to) => {
    for (const accepted of [undefined, true, false]) {
      const [plain] = await query<{ total: number }>(
        `select count(*)::int as total from crux.audit_log
          where team_id = $1 and created_at between $2 and $3 and ($4::boolean is null or accepted = $4)`,
        [team.id, from, to, accepted ?? null],
      )
      expect(await countAll(crux.app.database.pool, { teamId: team.id, from, to, accepted })).toBe(plain?.total)
    }
  })

  it.each(['UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Europe/Berlin', 'America/St_Johns'])(
    'match the days in %s',
    async (timeZone) => {
      for (const [from, to] of ranges) {
        const plain = await query(
          `select to_char(date_trunc('day', created_at at time zone $4), 'YYYY-MM-DD') as day,
            count(*) filter (where accepted)::int as accepted, count(*) filter (where not accepted)::int as refused
          from crux.audit_log where team_id = $1 and created_at between $2 and $3 group by 1 order by 1`,
          [team.id, from, to, timeZone],
        )
        expect(await countAllDays(crux.app.database.pool, { teamId: team.id, from, to }, timeZone)).toEqual(plain)
      }
    },
  )

  it('include all concurrent entries', async () => {
    const other = await crux.createTeam(ada)
    const before = await shownOnDashboard(other)
    await Promise.all(Array.from({ length: 20 }, () => write(other.id, 50, 'random()')))
    expect(await shownOnDashboard(other)).toBe(before + 1_000)
  })

  it('follow deleted entries, and are deleted with the team', async () => {
    const other = await crux.createTeam(ada)
    await write(other.id, 500, 'random()')
    await dropEntriesBefore(crux.app, new Date('2026-03-29T00:00:00Z'))
    const [left] = await query<{ total: number }>(
      'select count(*)::int as total from crux.audit_log where team_id = $1',
      [other.id],
    )
    expect(left?.total).toBeLessThan(500)
    expect(await shownOnDashboard(other)).toBe(left?.total)
    expect(
      await query(`select 1 from crux.audit_count where accepted = 0 and refused = 0 and quarter > '-infinity'`, []),
    ).toEqual([])
    await crux.client(ada).call('teams.delete', { params: { teamId: other.id } })
    expect(await query('select 1 from crux.audit_count where team_id = $1', [other.id])).toEqual([])
  })
})

const shownOnDashboard = async ({ slug }: TestTeam) =>
  (await crux.client(ada).call('dashboard.get', { params: { teamSlug: slug } })).auditLog
