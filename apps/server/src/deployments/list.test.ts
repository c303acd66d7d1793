import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment, type SeededVersion } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { listSql } from './list-store.ts'

const rows = 20_000
let server: TestServer
let testEnvironment: DeployTestEnvironment
let version: SeededVersion
let node: { id: string; name: string }
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  node = await testEnvironment.node('eu-west-1')
  version = await testEnvironment.version()
  const { pool } = server.app.database
  await pool.query(
    `insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, status, created_at, created_by, updated_by)
     select $1, $2, $3, $4, 'p' || n, (array['successful', 'failed', 'obsolete'])[1 + n % 3], now() - n * interval '1 minute', $5, $5
     from generate_series(1, $6::int) n`,
    [testEnvironment.team.id, version.projectId, version.versionId, node.id, testEnvironment.owner.id, rows],
  )
  await pool.query('vacuum analyze crux.deployment')
})
afterAll(() => server.stop())

const list = (query: object) =>
  testEnvironment.client.call('deployments.list', {
    params: testEnvironment.params,
    query: { skip: 0, take: 50, ...query },
  })

describe('the list of deployments', () => {
  it('is read from indexes: no scan of the table, no sort of all', async () => {
    const { text, values } = listSql(testEnvironment.team.id, { skip: 0, take: 50 }).config()
    const { rows: plan } = await server.app.database.pool.query(`explain (format json) ${text}`, values)
    const nodes: { type: string; relation?: string; rows: number }[] = []
    const walk = (part: Record<string, unknown>) => {
      nodes.push({
        type: String(part['Node Type']),
        relation: part['Relation Name'] as string,
        rows: Number(part['Plan Rows']),
      })
      for (const child of (part.Plans as Record<string, unknown>[]) ?? []) walk(child)
    }
    walk(plan[0]['QUERY PLAN'][0].Plan)
    expect(nodes.filter((one) => one.type === 'Seq Scan' && one.relation === 'deployment')).toEqual([])
    // Only the page itself may be sorted again.
    expect(nodes.filter((one) => /Sort/.test(one.type) && one.rows > 50)).toEqual([])
    expect(nodes.filter((one) => one.relation === 'deployment')).toEqual([
      { type: 'Index Scan', relation: 'deployment', rows: expect.any(Number) },
    ])
  })

  it('is paged, newest first, with counts by status', async () => {
    const first = await list({})
    const second = await list({ skip: 50 })
    expect(first.total).toBe(rows)
    expect([first.items[0]?.prefix, second.items[0]?.prefix]).toEqual(['p1', 'p51'])
    expect(first.counts).toEqual({ successful: 6666, failed: 6667, obsolete: 6667 })
    expect(first.items[0]).toMatchObject({
      node: { name: 'eu-west-1' },
      version: { name: '1.0.0' },
      updatedByName: 'Ada',
    })
    expect(await list({ skip: rows + 5 })).toMatchObject({ items: [], total: rows, counts: { failed: 6667 } })
  })

  it('is filtered by prefix, node, version and project, and treats wildcards as text', async () => {
    expect((await list({ filter: 'P19999' })).items.map((one) => one.prefix)).toEqual(['p19999'])
    expect((await list({ filter: 'EU-west' })).total).toBe(rows)
    expect((await list({ filter: '%' })).total).toBe(0)
    const failed = await list({ status: 'failed', nodeId: node.id })
    expect([failed.total, new Set(failed.items.map((one) => one.status))]).toEqual([6667, new Set(['failed'])])
    expect((await list({ nodeId: (await testEnvironment.node()).id })).items).toEqual([])
  })

  it('counts correctly after every change, and sums up the differences', async () => {
    const { pool } = server.app.database
    const other = await makeDeployTestEnvironment(server)
    const [target, wanted] = [await other.node(), await other.version()]
    const created = []
    for (let index = 0; index < 3; index++) created.push(await other.deployment(wanted, target.id, `c${index}`))
    for (let turn = 0; turn < 300; turn++)
      await pool.query('update crux.deployment set status = $2 where id = $1', [
        created[0]?.id,
        turn % 2 ? 'failed' : 'obsolete',
      ])
    await other.client.call('deployments.delete', {
      params: { ...other.params, deploymentId: created[1]?.id ?? '' },
      query: {},
    })
    const read = () => other.client.call('deployments.list', { params: other.params, query: { skip: 0, take: 10 } })
    expect(await read()).toMatchObject({ total: 2, counts: { failed: 1, preparing: 1 } })
    const stored = async () =>
      (await pool.query('select count(*)::int as n from crux.deployment_count where team_id = $1', [other.team.id]))
        .rows[0].n
    await until(async () => (await stored()) <= 3)
    expect(await read()).toMatchObject({ total: 2, counts: { failed: 1, preparing: 1 } })
  })

  it('refuses a page without limits, and more than 1,000', async () => {
    for (const query of ['', '?skip=0&take=1001', '?skip=-1&take=10'])
      expect(
        (await server.request(`/api/${testEnvironment.team.slug}/deployments${query}`, { as: testEnvironment.owner }))
          .status,
      ).toBe(400)
  })

  it('of a node contains that node’s, newest first', async () => {
    const items = await testEnvironment.client.call('nodes.deployments', {
      params: { ...testEnvironment.params, nodeId: node.id },
    })
    expect([items.length, items[0]?.prefix]).toEqual([1_000, 'p1'])
  })
})
