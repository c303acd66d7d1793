import type { ContainerConfigFields } from '@crux/contract'
import type { ConfigLayer } from '@crux/rules'
import { type Queries, raw, sql } from '../db/queries.ts'

/** A value that another deployment's layer shares with deployments of its node and prefix. */
export type SharedSecret = { key: string; value: string; publicKey: string; configId: string; name: string }

/**
 * The shared values of a deployment target, as one value of a query: by key, that of the deployment layer which was
 * last deployed there with success, whatever its project, encrypted for the node's current key. Obsolete deployments
 * count, because they did succeed.
 *
 * @param d,n aliases of the deployment that uses them and of its node
 */
export const sharedSecretsJson = (d: string, n: string) => `(
  select coalesce(json_agg(shared), '[]') from (
    select distinct on (row->>'key') row->>'key' as key, row->>'value' as value, row->>'publicKey' as "publicKey",
      sc.id as "configId", sp.name || ' ' || sv.name as name
    from crux.deployment sd
    join crux.container_config sc on sc.deployment_id = sd.id
    join crux.version sv on sv.id = sd.version_id
    join crux.project sp on sp.id = sd.project_id
    cross join lateral jsonb_array_elements(
      case when jsonb_typeof(sc.fields->'secrets') = 'array' then sc.fields->'secrets' else '[]' end) as row
    where sd.node_id = ${d}.node_id and sd.prefix = ${d}.prefix and sd.team_id = ${d}.team_id and sd.id <> ${d}.id
      and sd.status in ('successful', 'obsolete') and coalesce(row->>'value', '') <> ''
      and row->>'publicKey' = ${n}.public_key
    order by row->>'key', sd.deployed_at desc nulls last, sd.id desc) shared)`

export const sharedSecrets = async (queries: Queries, deploymentId: string): Promise<SharedSecret[]> =>
  (await sql`select ${raw(sharedSecretsJson('d', 'n'))} as shared
    from crux.deployment d
    join crux.node n on n.id = d.node_id
    where d.id = ${deploymentId}`.value<SharedSecret[]>(queries, 'shared secrets')) ?? []

/**
 * The shared values as layers below all layers of the deployment, only for the keys that its own layers name: a
 * container gets no secret that its configuration does not request.
 *
 * @param own the image's layer and those over it
 */
export function sharedLayers(shared: readonly SharedSecret[], own: readonly ContainerConfigFields[]): ConfigLayer[] {
  if (shared.length === 0) return []
  const named = new Set(own.flatMap((fields) => (fields.secrets ?? []).map((row) => row.key)))
  return shared
    .filter(({ key }) => named.has(key))
    .map(({ key, value, publicKey, configId, name }) => ({
      source: 'deployment',
      name,
      configId,
      fields: { secrets: [{ key, required: false, value, encrypted: true, publicKey }] },
    }))
}
