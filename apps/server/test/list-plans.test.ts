import { contract, type Operation } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'
import { pathOf } from './kit/requests.ts'
import { makeWorld, type World } from './kit/world.ts'

type Plan = { 'Node Type': string; 'Relation Name'?: string; Plans?: Plan[] }
type Asked = { text: string; values: unknown[] }

let crux: TestServer
let ada: Someone
let world: World
let asked: Asked[] | undefined
/** Tables where a scan would be felt. */
let large: Set<string>

/** Many teams with many things each: what reads past its own team shows. */
const seed = `
  insert into crux.team (name, slug, created_by, updated_by) select 'Seed ' || n, 'seed-' || n, 's', 's' from generate_series(1, 150) n;
  insert into crux.team_member (team_id, user_id, role) select t.id, gen_random_uuid()::text, 'user' from crux.team t, generate_series(1, 20);
  insert into crux.registry (team_id, name, type, url, created_by, updated_by) select t.id, 'Seed ' || n, 'v2', 'r', 's', 's' from crux.team t, generate_series(1, 20) n;
  insert into crux.node (team_id, name, created_by, updated_by) select t.id, 'Seed ' || n, 's', 's' from crux.team t, generate_series(1, 20) n;
  insert into crux.project (team_id, name, type, created_by, updated_by) select t.id, 'Seed ' || n, 'versioned', 's', 's' from crux.team t, generate_series(1, 20) n;
  insert into crux.version (project_id, name, type, created_by, updated_by) select p.id, n::text, 'rolling', 's', 's' from crux.project p, generate_series(1, 2) n;
  insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, status, created_by, updated_by)
    select p.team_id, p.id, v.id, (select n.id from crux.node n where n.team_id = p.team_id limit 1), v.id::text, 'successful', 's', 's'
    from crux.version v join crux.project p on p.id = v.project_id;
  insert into crux.image (version_id, registry_id, name, "order", created_by, updated_by)
    select v.id, (select r.id from crux.registry r where r.team_id = p.team_id limit 1), 'a', 0, 's', 's'
    from crux.version v join crux.project p on p.id = v.project_id;
  insert into crux.instance (deployment_id, image_id) select d.id, i.id from crux.deployment d join crux.image i on i.version_id = d.version_id on conflict do nothing;
  insert into crux.container_config (type, image_id) select 'image', id from crux.image where id not in (select image_id from crux.container_config where image_id is not null);
  insert into crux.container_config (type, instance_id) select 'instance', id from crux.instance where id not in (select instance_id from crux.container_config where instance_id is not null);
  insert into crux.container_config (type, deployment_id) select 'deployment', id from crux.deployment where id not in (select deployment_id from crux.container_config where deployment_id is not null);
  insert into crux.config_bundle (team_id, name, created_by, updated_by) select t.id, 'Seed ' || n, 's', 's' from crux.team t, generate_series(1, 20) n;
  insert into crux.container_config (type, config_bundle_id) select 'config-bundle', id from crux.config_bundle where id not in (select config_bundle_id from crux.container_config where config_bundle_id is not null);
  insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
    select d.id, d.team_id, (select b.id from crux.config_bundle b where b.team_id = d.team_id limit 1), 1 from crux.deployment d;
  insert into crux.storage (team_id, name, url, created_by, updated_by) select t.id, 'Seed ' || n, 'u', 's', 's' from crux.team t, generate_series(1, 20) n;
  insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by) select c.id, 1, '{}', '{}', 's' from crux.container_config c on conflict do nothing;
  insert into crux.node_event (node_id, event) select n.id, 'connected' from crux.node n, generate_series(1, 3);
  insert into crux.audit_log (team_id, actor_type, actor_id, actor_name, context, event) select t.id, 'user', 's', 's', 'http', 'e' from crux.team t, generate_series(1, 50);
  insert into crux.service_account (team_id, name, role, created_by, updated_by) select t.id, 'Seed ' || n, 'user', 's', 's' from crux.team t, generate_series(1, 10) n;
  insert into crux.access_token (service_account_id, team_id, name, hash, scope, aal, created_by) select a.id, a.team_id, 'Seed', gen_random_uuid()::text, 'full', 'aal1', 's' from crux.service_account a;
  insert into crux.access_token (user_id, name, hash, scope, aal, created_by) select m.user_id, 'Seed', gen_random_uuid()::text, 'full', 'aal1', 's' from crux.team_member m where m.role = 'user';
  insert into crux.deployment_event (deployment_id, try, type, value) select d.id, 1, 'log', '{"log": ["a"], "level": "info"}' from crux.deployment d, generate_series(1, 2);
`

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp()
  world = await makeWorld(crux, ada)
  const { pool } = crux.app.database
  for (const statement of seed.split(';\n')) if (statement.trim()) await pool.query(statement)
  await pool.query(
    `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
        status, started_by_id, started_by_name)
      select d.id, 1, d.team_id, d.project_id, d.node_id, d.prefix, '1', 'p', 'successful', 's', 's' from crux.deployment d`,
  )
  await pool.query('analyze')
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'crux'::regnamespace and reltuples > 1000`,
  )
  large = new Set(rows.map((row) => row.name))
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown
  pool.query = ((config: string | Asked, values?: unknown[]) => {
    const text = typeof config === 'string' ? config : config.text
    if (asked && /^\s*(select|with)/i.test(text))
      asked.push({ text, values: values ?? (typeof config === 'string' ? [] : config.values) ?? [] })
    return query(config, values)
  }) as typeof pool.query
}, 120_000)
afterAll(() => crux.stop())

/** Where an agent is asked: none is connected here, which is said after the database was read. */
const ofAgents: Partial<Record<Operation, number>> = {
  'nodes.images': 404,
  'deployments.secrets': 412,
  'deployments.instance-secrets': 412,
}
/** Their answer is the same for everybody. */
const constant: ReadonlySet<Operation> = new Set(['quality-assurance.get'])
const reads = (Object.keys(contract) as Operation[]).filter((operation) => {
  const { method, permission } = contract[operation]
  return (
    method === 'GET' &&
    permission !== 'public' &&
    permission !== 'install-token' &&
    !operation.startsWith('containers.') &&
    !constant.has(operation)
  )
})
describe('with 6,000 versions and deployments of others in the database', () => {
  it.each(reads)('%s reads by indexes only', async (operation) => {
    asked = []
    const answer = await crux.request(pathOf(operation, world), { as: ada })
    await answer.arrayBuffer()
    const statements = asked
    asked = undefined
    expect(answer.status).toBe(ofAgents[operation] ?? 200)
    expect(statements.length).toBeGreaterThan(0)
    for (const { text, values } of statements) {
      const scanned = (await explain(text, values)).filter((node) => node['Node Type'] === 'Seq Scan')
      expect([scanned.map((node) => node['Relation Name']).filter((name) => large.has(name ?? '')), text]).toEqual([
        [],
        text,
      ])
      // The few teams of one person stand in no index together.
      if (!operation.endsWith('.list') || operation === 'teams.list') continue
      // Twenty rows are sorted faster than they are read in order; what counts is that an index has the order.
      const sorted = (await explain(text, values, 'set local enable_sort = off')).filter(
        (node) => node['Node Type'] === 'Sort',
      )
      expect([sorted.length, text]).toEqual([0, text])
    }
  })
})

describe('the audit log, filtered', () => {
  it.each(['&accepted=false', '&filter=unusual', '&filter=e', '&filter=unusual&accepted=true'])(
    'is read by indexes only: %s',
    async (filter) => {
      for (const operation of ['audit-log.list', 'audit-log.export-ndjson'] as const) {
        asked = []
        await (await crux.request(pathOf(operation, world) + filter, { as: ada })).arrayBuffer()
        // Others ask at the same time: leases, presence.
        const statements = asked.filter(({ text }) => text.includes('crux.audit_log'))
        asked = undefined
        expect(statements.length).toBeGreaterThan(0)
        for (const { text, values } of statements)
          expect([(await explain(text, values)).map((node) => node['Node Type']), text]).toEqual([
            expect.not.arrayContaining(['Seq Scan']),
            text,
          ])
      }
    },
  )
})

async function explain(text: string, values: unknown[], setting = 'select 1'): Promise<Plan[]> {
  const client = await crux.app.database.pool.connect()
  try {
    await client.query('begin')
    await client.query(setting)
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (format json) ${text}`, values)
    return flatten(rows[0]?.['QUERY PLAN'][0]?.Plan)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const flatten = (plan: Plan | undefined): Plan[] => (plan ? [plan, ...(plan.Plans ?? []).flatMap(flatten)] : [])
