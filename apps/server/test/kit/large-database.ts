import type { Pool } from 'pg'
import type { TestEnvironment } from './test-environment.ts'

/** The number of rows in each table for which every list has to stay fast. */
export const rowsPerTable = 100_000

/** The id of row `i` of a table, the same for every caller, so that rows refer to each other without a lookup. */
const getId = (table: string, i = 'i') => `md5('${table} ' || ${i})::uuid`
/** Twenty rows of each table per team: a query that reads other teams' rows reads 99,980 rows too many. */
const team = getId('team', '((i - 1) / 20 + 1)')
const day = `timestamptz '2026-01-01' + i * interval '1 second'`

const target = { team_id: team, project_id: getId('project'), node_id: getId('node'), prefix: `'p' || i` }

/** Column -> SQL over `i` from 1 to 100,000. A column that is not named has its default. */
const tables: Record<string, Record<string, string>> = {
  team: { id: getId('team'), name: `'Seed ' || i`, slug: `'seed-' || i`, created_by: `'s'`, updated_by: `'s'` },
  team_member: { team_id: team, user_id: getId('user'), role: `'user'` },
  invitation: {
    team_id: team,
    user_id: getId('invited'),
    email: `i || '@example.com'`,
    name: `'Seed'`,
    invited_by: `'s'`,
    expires_at: day,
    secret_hash: `'s'`,
  },
  registry: ofTeam('registry', { type: `'v2'`, url: `'r'` }),
  registry_hook: { registry_id: getId('registry'), kind: `'github'`, secret: `'s'`, created_by: `'s'` },
  registry_delivery: {
    registry_id: getId('registry', '((i - 1) / 100 + 1)'),
    kind: `'github'`,
    event: `'ping'`,
    images: `'[]'`,
    result: `'ignored'`,
  },
  registry_delivery_key: { registry_id: getId('registry', '((i - 1) / 100 + 1)'), key: `'k' || i` },
  storage: ofTeam('storage', { url: `'u'` }),
  notification: ofTeam('notification', { type: `'slack'` }),
  notification_delivery: {
    notification_id: getId('notification', '((i - 1) / 100 + 1)'),
    event_key: `'k' || i`,
    event: `'node-added'`,
    text: `'t'`,
    data: `'{}'`,
    status: `'delivered'`,
  },
  config_bundle: ofTeam('config_bundle', {}),
  service_account: ofTeam('service_account', { role: `'user'` }),
  project: ofTeam('project', { type: `'versioned'` }),
  node: ofTeam('node', {}),
  deleted_node: { node_id: getId('deleted'), team_id: team, deleted_at: day },
  node_token: { node_id: getId('node'), hash: `'h' || i`, exchanged_by: `'s'`, created_by: `'s'` },
  node_update: {
    node_id: getId('node'),
    id: getId('update'),
    state: `'completed'`,
    token_hash: `'h' || i`,
    from_version: `'0.9.0'`,
    started_by_id: `'s'`,
    started_by_name: `'s'`,
    deadline_at: day,
    ended_at: day,
  },
  node_install: {
    node_id: getId('node'),
    token_hash: `'h' || i`,
    token: `'t'`,
    script_type: `'shell'`,
    options: `'{}'`,
    created_by: `'s'`,
    expires_at: day,
  },
  node_event: { node_id: getId('node'), event: `'connected'`, created_at: day },
  version: {
    id: getId('version'),
    project_id: getId('project'),
    name: `'1'`,
    type: `'rolling'`,
    chain_id: getId('chain'),
    created_by: `'s'`,
    updated_by: `'s'`,
  },
  image: {
    id: getId('image'),
    version_id: getId('version'),
    registry_id: getId('registry'),
    name: `'a'`,
    order: '0',
    created_by: `'s'`,
    updated_by: `'s'`,
  },
  deployment: {
    id: getId('deployment'),
    ...target,
    version_id: getId('version'),
    status: `(array['preparing', 'successful', 'failed', 'obsolete'])[i % 4 + 1]`,
    created_at: day,
    created_by: `'s'`,
    updated_by: `'s'`,
  },
  image_run: {
    team_id: team,
    key: getId('key'),
    request_hash: `'h'`,
    project_id: getId('project'),
    version_id: getId('version'),
    deployment_id: getId('deployment'),
  },
  deployment_count: { team_id: team, status: `'successful'`, difference: '1' },
  deployment_event: {
    deployment_id: getId('deployment'),
    attempt: '1',
    type: `'log'`,
    value: `'{"log": ["a"], "level": "info"}'`,
  },
  instance: { id: getId('instance'), deployment_id: getId('deployment'), image_id: getId('image'), follow: `'notify'` },
  release: {
    id: getId('release'),
    deployment_id: getId('deployment'),
    number: '1',
    ...target,
    version_name: `'1'`,
    project_name: `'p'`,
    status: `'successful'`,
    current: 'true',
    started_at: day,
    started_by_id: `'s'`,
    started_by_name: `'s'`,
  },
  release_instance: {
    release_id: getId('release'),
    instance_id: getId('instance'),
    order: '0',
    container_name: `'web'`,
    image_name: `'a'`,
    image_tag: `'1'`,
    config: `'{}'`,
  },
  followed_tag: {
    registry_id: getId('registry'),
    name: `'a'`,
    tag: `'latest'`,
    digest: `'sha256:' || i`,
    digest_at: day,
    next_check_at: `timestamptz '2100-01-01'`,
  },
  node_image: { node_id: getId('node'), digest: `'sha256:' || i`, name: `'a'` },
  danger_confirmation: {
    deployment_id: getId('deployment'),
    instance_id: getId('instance'),
    hash: `'h'`,
    subject: `'{}'`,
    confirmed_by_id: `'s'`,
    confirmed_by_name: `'s'`,
  },
  container_config: {
    id: getId('config'),
    type: `(array['image', 'instance', 'deployment', 'config-bundle'])[i % 4 + 1]`,
    image_id: `case i % 4 when 0 then ${getId('image')} end`,
    instance_id: `case i % 4 when 1 then ${getId('instance')} end`,
    deployment_id: `case i % 4 when 2 then ${getId('deployment')} end`,
    config_bundle_id: `case i % 4 when 3 then ${getId('config_bundle')} end`,
    fields: `jsonb_build_object('storage', jsonb_build_object('storageId', ${getId('storage')}))`,
  },
  container_config_change: { config_id: getId('config'), property: `'tty'`, revision: '1', updated_by: `'s'` },
  container_config_revision: {
    config_id: getId('config'),
    revision: '1',
    fields: `'{}'`,
    changed: `'{}'`,
    updated_by: `'s'`,
  },
  deployment_config_bundle: {
    deployment_id: getId('deployment'),
    config_bundle_id: getId('config_bundle'),
    team_id: team,
    order: '1',
  },
  audit_log: {
    created_at: day,
    team_id: team,
    actor_type: `'user'`,
    actor_id: `'s'`,
    actor_name: `'s'`,
    context: `'http'`,
    event: `'e' || i % 50`,
  },
  audit_count: { team_id: getId('team'), quarter: `timestamptz '2026-01-01'`, accepted: '1', refused: '0' },
  access_token: {
    user_id: `case i % 4 when 0 then ${getId('user')}::text end`,
    service_account_id: `case i % 4 when 1 then ${getId('service_account')} end`,
    deployment_id: `case i % 4 when 2 then ${getId('deployment')} end`,
    registry_id: `case i % 4 when 3 then ${getId('registry')} end`,
    team_id: `case i % 4 when 0 then null else ${team} end`,
    name: `'Seed ' || i`,
    hash: `'h' || i`,
    scope: `'full'`,
    aal: `'aal1'`,
    created_by: `'s'`,
  },
  rate_limit: { key: `'k' || i`, hits: '1', resets_at: `now() + interval '1 day'` },
}

function ofTeam(table: string, more: Record<string, string>): Record<string, string> {
  return { id: getId(table), team_id: team, name: `'Seed ' || i`, created_by: `'s'`, updated_by: `'s'`, ...more }
}

const historyRows = 20_000
const history = [
  [
    `insert into crux.audit_log (team_id, actor_type, actor_id, actor_name, context, event, created_at)
     select $1, 'user', 's', 's', 'http', 'e', ${day} from generate_series(1, $2::int) i`,
    'teamId',
  ],
  [
    `insert into crux.node_event (node_id, event, created_at) select $1, 'connected', ${day} from generate_series(1, $2::int) i`,
    'nodeId',
  ],
  [
    `insert into crux.deployment_event (deployment_id, attempt, type, value)
     select $1, 1, 'log', '{"log": ["a"], "level": "info"}' from generate_series(1, $2::int) i`,
    'deploymentId',
  ],
] as const

/** These tables have one row per running server or per migration, and do not grow with use. */
const small = ['server_process', 'migrations']

/**
 * Fills every table of the schema and analyzes it once. The requested team has a long history of its own, and one
 * release.
 *
 * @returns the tables, each with at least `rowsPerTable` rows
 * @throws when there is a table without a definition here
 */
export async function fillDatabase(
  pool: Pool,
  own: Pick<TestEnvironment, 'teamId' | 'nodeId' | 'deploymentId'>,
): Promise<Set<string>> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    // The rows match each other; checking a million references would take most of the time.
    await client.query('set local session_replication_role = replica')
    for (const [table, columns] of Object.entries(tables)) {
      const names = Object.keys(columns).map((name) => `"${name}"`)
      await client.query(
        `insert into crux."${table}" (${names.join()}) select ${Object.values(columns).join()} from generate_series(1, $1::int) i`,
        [rowsPerTable],
      )
    }
    const { teamId, nodeId, deploymentId } = own
    for (const [text, id] of history) await client.query(text, [{ teamId, nodeId, deploymentId }[id], historyRows])
    await client.query(
      `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name, status, started_by_id, started_by_name)
       select id, 1, team_id, project_id, node_id, prefix, '1', 'p', 'successful', 's', 's' from crux.deployment where id = $1`,
      [deploymentId],
    )
    await client.query('commit')
    await client.query('analyze')
    const { rows } = await client.query<{ name: string; count: number }>(
      `select relname as name, reltuples::int as count from pg_class where relnamespace = 'crux'::regnamespace and relkind = 'r'`,
    )
    const unfilled = rows.filter(({ name, count }) => count < rowsPerTable && !small.includes(name))
    if (unfilled.length > 0)
      throw new Error(`no rows for ${unfilled.map(({ name }) => name).join(', ')}: add them here`)
    return new Set(rows.map(({ name }) => name).filter((name) => !small.includes(name)))
  } finally {
    client.release()
  }
}
