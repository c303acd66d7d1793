import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { recordAudit } from './record.ts'
import { dropEntriesBefore } from './retention.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam
let params: { teamSlug: string }

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
  params = { teamSlug: team.slug }
})
afterAll(() => crux.stop())

const always = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }
const list = (query: Record<string, unknown> = {}) =>
  crux.client(ada).call('audit-log.list', { params, query: { ...always, skip: 0, take: 100, ...query } })
/** Entries of a new team at given times, oldest first. */
async function seeded(times: string[], entry: { event?: string; accepted?: boolean } = {}) {
  const other = await crux.createTeam(ada)
  await crux.app.database.pool.query('delete from crux.audit_log where team_id = $1', [other.id])
  await crux.app.database.pool.query(
    `insert into crux.audit_log (team_id, created_at, actor_type, actor_id, actor_name, context, event, accepted)
     select $1, t, 'user', 'nobody', 'Nobody', 'http', $3, $4 from unnest($2::timestamptz[]) t`,
    [other.id, times, entry.event ?? 'a b', entry.accepted ?? true],
  )
  return other
}

describe('the list of the audit log', () => {
  it('shows the actions of each user, newest first, including the refused one', async () => {
    const member = await crux.addMember(team, 'user', 'Eve Smith')
    await crux.client(ada).call('projects.create', { params, body: { name: 'Audited', type: 'versioned' } })
    const create = crux.client(member).request('nodes.create', { params, body: { name: 'Forbidden' } })
    await expect(create).rejects.toMatchObject({ status: 403 })
    const { items } = await list({ take: 2 })
    expect(items).toMatchObject([
      {
        name: 'Eve Smith',
        user: { id: member.id, email: member.email },
        actorType: 'user',
        event: 'node nodes.create',
        accepted: false,
        data: { refused: { error: 'forbidden' } },
      },
      {
        name: 'Ada Byron',
        user: { id: ada.id, email: ada.email },
        context: 'http',
        method: 'post',
        event: 'project projects.create',
        accepted: true,
        data: { body: { name: 'Audited' } },
      },
    ])
    expect((await list({ accepted: 'false' })).items.every((item) => !item.accepted)).toBe(true)
    expect((await list({ accepted: 'true' })).items.every((item) => item.accepted)).toBe(true)
  })

  it('finds a part of an event, a name or an address, in any case, and treats wildcards as text', async () => {
    await crux.client(ada).call('projects.create', { params, body: { name: 'To be found', type: 'versioned' } })
    const found = async (filter: string) => (await list({ filter })).total
    expect(await found('PROJECTS.cre')).toBeGreaterThan(0)
    expect(await found('ada byr')).toBeGreaterThan(0)
    expect(await found(ada.email.toUpperCase())).toBeGreaterThan(0)
    expect(await found('by')).toBeGreaterThan(0)
    expect(await found('.c')).toBeGreaterThan(0)
    expect(await found('qq')).toBe(0)
    expect(await found('%')).toBe(0)
    expect(await found('a_a byron')).toBe(0)
    expect(await found('no such thing')).toBe(0)
  })

  it('includes both ends of the range, and pages without gaps', async () => {
    const times = Array.from({ length: 25 }, (_, index) => new Date(1_767_225_600_000 + index * 1_000).toISOString())
    const other = await seeded(times)
    const page = (skip: number, range: { from?: string | undefined; to?: string | undefined } = {}) =>
      crux.client(ada).call('audit-log.list', {
        params: { teamSlug: other.slug },
        query: { from: range.from ?? always.from, to: range.to ?? always.to, skip, take: 10 },
      })
    const pages = await Promise.all([page(0), page(10), page(20)])
    expect(pages.map(({ total }) => total)).toEqual([25, 25, 25])
    expect(pages.flatMap(({ items }) => items.map((item) => item.createdAt))).toEqual(times.toReversed())
    expect((await page(0, { from: times[3], to: times[5] })).items.map((item) => item.createdAt)).toEqual([
      times[5],
      times[4],
      times[3],
    ])
  })

  it('requires a range, and shows nothing of another team', async () => {
    const headers = { authorization: `Bearer ${ada.token}` }
    expect((await crux.request(`/api/${team.slug}/audit-log?skip=0&take=10`, { headers })).status).toBe(400)
    const stranger = crux.signUp()
    expect((await crux.request(`/api/${team.slug}/audit-log`, { as: stranger })).status).toBe(403)
  })
})

describe('the days of the audit log', () => {
  it('are counted in the requested time zone', async () => {
    const other = await seeded(['2026-03-01T22:30:00Z', '2026-03-01T23:30:00Z', '2026-03-03T12:00:00Z'])
    const days = (timeZone: string) =>
      crux.client(ada).call('audit-log.days', {
        params: { teamSlug: other.slug },
        query: { from: '2026-02-01T00:00:00Z', to: '2026-04-01T00:00:00Z', timeZone },
      })
    expect(await days('UTC')).toEqual([
      { day: '2026-03-01', accepted: 2, refused: 0 },
      { day: '2026-03-03', accepted: 1, refused: 0 },
    ])
    expect(await days('Europe/Berlin')).toEqual([
      { day: '2026-03-01', accepted: 1, refused: 0 },
      { day: '2026-03-02', accepted: 1, refused: 0 },
      { day: '2026-03-03', accepted: 1, refused: 0 },
    ])
    for (const zone of ['Nowhere/City', '+01:00', 'UTC; select'])
      await expect(days(zone)).rejects.toMatchObject({ status: 400, property: 'timeZone' })
  })

  it('are at most 400', async () => {
    const query = { from: '2025-01-01T00:00:00Z', to: '2026-02-06T00:00:00Z' }
    await expect(crux.client(ada).request('audit-log.days', { params, query })).rejects.toMatchObject({
      status: 400,
      property: 'from',
    })
  })
})

describe('an export of the audit log', () => {
  it('breaks off for a user who has left the team', async () => {
    const own = await crux.createTeam(ada)
    const member = await crux.addMember(own, 'user')
    await crux.app.database.pool.query(
      `insert into crux.audit_log (team_id, actor_type, actor_id, actor_name, context, event, accepted, data)
       select $1, 'user', 'nobody', 'Nobody', 'http', 'a b', true, jsonb_build_object('much', repeat('x', 10000))
       from generate_series(1, 6000)`,
      [own.id],
    )
    const path = `/api/${own.slug}/audit-log/export.ndjson?from=${always.from}&to=${always.to}`
    const answer = await crux.request(path, { as: member })
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await crux.client(ada).call('teams.remove-user', { params: { teamId: own.id, userId: member.id } })
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow()
  })

  const fetchAll = async (slug: string, ending: 'csv' | 'ndjson', more = '') => {
    const answer = await crux.request(
      `/api/${slug}/audit-log/export.${ending}?from=${always.from}&to=${always.to}${more}`,
      { as: ada },
    )
    return { answer, text: await answer.text() }
  }

  it('streams everything of the range, oldest first, as CSV and as one JSON object per line', async () => {
    const count = 2_345
    const times = Array.from({ length: count }, (_, index) => new Date(1_700_000_000_000 + index).toISOString())
    const other = await seeded(times)
    const lines = await fetchAll(other.slug, 'ndjson')
    expect(lines.answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const entries = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { createdAt: string })
    expect(entries.map((entry) => entry.createdAt)).toEqual(times)

    const table = await fetchAll(other.slug, 'csv', '&filter=A%20B')
    expect(table.answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(table.answer.headers.get('content-disposition')).toBe(
      `attachment; filename="audit-log-${other.slug}-2020-01-01-2100-01-01.csv"`,
    )
    const rows = table.text.trimEnd().split('\r\n')
    expect(rows).toHaveLength(count + 1)
    expect(rows[0]).toMatch(/^id,createdAt,/)
    expect((await fetchAll(other.slug, 'csv', '&accepted=false')).text.split('\r\n')).toHaveLength(2)
  })

  it('is a refusal, not a broken file, for users without the right', async () => {
    const stranger = crux.signUp()
    const answer = await crux.request(`/api/${team.slug}/audit-log/export.csv?from=${always.from}&to=${always.to}`, {
      as: stranger,
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'application/json; charset=utf-8'])
  })
})

describe('an entry of the audit log', () => {
  const newest = async () => (await list({ take: 1 })).items[0]

  it('contains no credential, whatever was sent', async () => {
    const secret = `hunter2-${randomUUID()}`
    const token = `crux_${'a1B2_'.repeat(9).slice(0, 43)}`
    await recordAudit(crux.app, {
      teamId: team.id,
      actor: ada,
      context: 'http',
      event: 'test of-redaction',
      accepted: true,
      data: {
        body: {
          password: secret,
          token: secret,
          nested: [{ secretKey: secret, credentials: { user: 'u', key: secret } }],
        },
        note: `I pasted ${token} and https://user:${secret}@example.com and Bearer ${secret}`,
      },
    })
    const entry = await newest()
    expect(entry?.event).toBe('test of-redaction')
    expect(JSON.stringify(entry)).not.toContain(secret)
    expect(JSON.stringify(entry)).not.toContain(token.slice(5))
  })

  it('is kept whatever characters were sent', async () => {
    const sent = { name: 'Odd', type: 'versioned', description: 'a\\u0000b\\\\ud800c \ud800d 😀' }
    await crux.client(ada).call('projects.create', { params, body: sent as never })
    const [entry] = (await list({ take: 1 })).items
    expect(entry?.data).toMatchObject({ body: { description: 'a\\u0000b\\\\ud800c d 😀' } })
  })

  it('of a registry, a configuration or a token contains no secret of it', async () => {
    const secret = `hunter2-${randomUUID()}`
    const { call, request } = crux.client(ada)
    const details = { url: 'http://127.0.0.1:9', public: false, user: 'ada', token: secret }
    await request('registries.create', { params, body: { name: 'Private', type: 'v2', details } }).catch(() => {})
    const made = await call('tokens.create', { body: { name: 'Mine', expirationInDays: 0 } })
    const account = await call('service-accounts.create', { params, body: { name: 'Robot', role: 'user' } })
    const at = { ...params, serviceAccountId: account.id }
    const body = { name: 'Of robot', expirationInDays: 0 }
    const second = await call('service-accounts.create-token', { params: at, body })
    const { rows } = await crux.app.database.pool.query('select * from crux.audit_log')
    for (const text of [secret, made.token.slice(5), second.token.slice(5)])
      expect(JSON.stringify(rows)).not.toContain(text)
    expect(JSON.stringify(rows)).toContain('service-accounts.create-token')
  })

  it('is kept for the retention period', async () => {
    const other = await seeded(['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'])
    const left = async () => {
      const { rows } = await crux.app.database.pool.query<{ at: Date }>(
        'select created_at as at from crux.audit_log where team_id = $1 order by 1',
        [other.id],
      )
      return rows.map(({ at }) => at.toISOString().slice(0, 10))
    }
    expect(await dropEntriesBefore(crux.app, new Date('2026-01-02T00:00:00Z'))).toBeGreaterThan(0)
    expect(await left()).toEqual(['2026-01-02', '2026-01-03'])
  })
})
