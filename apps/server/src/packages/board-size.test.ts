import { limits } from '@crux/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

let crux: TestServer
let ours: DeployTestEnvironment
let packageId: string
let nodeId: string
const [chains, environments, versions] = [limits.packageChains, limits.packageEnvironments, 10]

beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
  const sql = (text: string, values: unknown[]) => crux.app.database.pool.query(text, values)
  nodeId = (await ours.node()).id
  const made = await ours.client.call('packages.create', { params: ours.params, body: { name: 'Large', chainIds: [] } })
  packageId = made.id
  const id = (kind: string, ...parts: string[]) =>
    `overlay(overlay(md5('${kind} ' || ${parts.join(` || ' ' || `)}) placing '7' from 13) placing '8' from 17)::uuid`
  await sql(
    `insert into crux.project (id, team_id, name, type, created_by, updated_by)
     select ${id('project', 'c')}, $1, 'Project ' || c, 'versioned', 's', 's' from generate_series(1, ${chains}) c`,
    [ours.team.id],
  )
  await sql(
    `insert into crux.version (id, project_id, name, type, chain_id, parent_id, created_by, updated_by)
     select ${id('version', 'c', 'v')}, ${id('project', 'c')}, v, 'incremental', ${id('version', 'c', '1')},
       case when v > 1 then ${id('version', 'c', '(v - 1)')} end, 's', 's'
     from generate_series(1, ${chains}) c, generate_series(1, ${versions}) v`,
    [],
  )
  await sql(
    `insert into crux.package_chain (package_id, chain_id, project_id, "order")
     select $1, ${id('version', 'c', '1')}, ${id('project', 'c')}, c from generate_series(1, ${chains}) c`,
    [packageId],
  )
  await sql(
    `insert into crux.package_environment (package_id, name, node_id, prefix, "order", created_by, updated_by)
     select $1, 'env ' || e, $2, 'p' || e, e, 's', 's' from generate_series(1, ${environments}) e`,
    [packageId, nodeId],
  )
  // In each environment every version has run, and the newest runs in the first one.
  await sql(
    `insert into crux.deployment (id, team_id, project_id, version_id, node_id, prefix, status, updated_at, created_by, updated_by)
     select ${id('deployment', 'c', 'v', 'e')}, $1, ${id('project', 'c')}, ${id('version', 'c', 'v')}, $2, 'p' || e,
       case when v = ${versions} - e % 3 then 'successful' when v > ${versions} - e % 3 then 'preparing' else 'obsolete' end,
       now() + v * interval '1 second', 's', 's'
     from generate_series(1, ${chains}) c, generate_series(1, ${versions}) v, generate_series(1, ${environments}) e`,
    [ours.team.id, nodeId],
  )
  await sql(
    `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
       status, started_by_id, started_by_name, current, container_names)
     select d.id, 1, d.team_id, d.project_id, d.node_id, d.prefix, 'v', 'p', 'successful', 's', 's',
       d.status = 'successful', '["web"]'
     from crux.deployment d where d.node_id = $1 and d.status <> 'preparing'`,
    [nodeId],
  )
  await sql('analyze', [])
})
afterAll(() => crux.stop())

it('a board of the largest package is read in as many queries as a small one', async () => {
  const { pool } = crux.app.database
  const asked: string[] = []
  const client = await pool.connect()
  const prototype = Object.getPrototypeOf(client) as { query: (...args: unknown[]) => unknown }
  client.release()
  const query = prototype.query
  const boards: Plan[] = []
  const isAboutPackage = (values: unknown[] = []) =>
    [packageId, nodeId].some((id) => JSON.stringify(values).includes(id))
  const statements: { text: string; values: unknown[] }[] = []
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [config] = args as [{ text: string; values: unknown[] } | string]
    // Work in the background reads nodes at the same time, but not by the id of this one.
    if (typeof config === 'object' && isAboutPackage(config.values)) {
      asked.push(config.text)
      statements.push(config)
    }
    return query.apply(this, args)
  }
  const board = await ours.client.call('packages.board', { params: { ...ours.params, packageId } }).finally(() => {
    prototype.query = query
  })
  expect(board.projects).toHaveLength(chains)
  expect(board.projects.every(({ cells }) => cells.length === environments)).toBe(true)
  const [first] = board.projects
  expect(first?.latest?.name).toBe(String(versions))
  expect(
    first?.cells.slice(0, 3).map((cell) => [cell.running?.version.name, cell.latest?.version.name ?? null]),
  ).toEqual([
    ['9', '10'],
    ['8', '10'],
    ['10', null],
  ])
  expect(first?.cells[1]?.newerBefore?.name).toBe('9')
  expect(asked.length).toBeLessThanOrEqual(8)
  // Nothing reads more than the rows of this package: what is obsolete is filtered from the rows of its targets.
  for (const { text, values } of statements) {
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    )
    boards.push(...flatten(rows[0]?.['QUERY PLAN'][0]?.Plan))
  }
  const read = boards.map((plan) => plan['Actual Rows'] * plan['Actual Loops'])
  expect(Math.max(...read)).toBeLessThanOrEqual(chains * versions * environments)
})

const flatten = (plan: Plan | undefined): Plan[] => (plan ? [plan, ...(plan.Plans ?? []).flatMap(flatten)] : [])
