import type { DeploymentStatus } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

type Copy = { fromId: string; toId: string; by: string }

/** Copies images with order, tags, labels and configurations. Returns the copy of each image. */
export async function copyImages(queries: Queries, { fromId, toId, by }: Copy): Promise<Map<string, string>> {
  const rows = await sql`with pair as materialized (select id as "from", uuidv7() as "to" from crux.image
    where version_id = ${fromId}),
      copied as (
        insert into crux.image (id, version_id, registry_id, name, tag, "order", labels, created_by, updated_by)
        select pair."to", ${toId}, i.registry_id, i.name, i.tag, i."order", i.labels, ${by}, ${by}
        from pair join crux.image i on i.id = pair."from"),
      configured as (
        insert into crux.container_config (type, image_id, fields, updated_by)
        select 'image', pair."to", c.fields, ${by} from pair join crux.container_config c on c.image_id = pair."from")
    select "from", "to" from pair`.rows<{ from: string; to: string }>(queries)
  return new Map(rows.map((row) => [row.from, row.to]))
}

/**
 * Copies deployments as `preparing` ones of the new version: the newest of each node and prefix, with its bundles and
 * the configurations of the deployment and of its instances. Attempts, times and people of the source are not copied,
 * and neither is its protection: a deployment target has one protected version, which stays the old one until a user
 * changes that.
 *
 * @param copy.statuses only sources in one of these statuses; all sources when absent
 */
export async function copyDeployments(
  queries: Queries,
  {
    fromId,
    toId,
    by,
    images,
    statuses,
  }: Copy & { images: ReadonlyMap<string, string>; statuses?: readonly DeploymentStatus[] | undefined },
): Promise<number> {
  const rows = await sql`with pair as materialized (
        select distinct on (node_id, prefix) id as "from", uuidv7() as "to" from crux.deployment
        where version_id = ${fromId} and (${statuses ?? null}::text[] is null or status = any(${statuses ?? null}))
        order by node_id, prefix, coalesce(deployed_at, updated_at) desc, id desc),
      copied as (
        insert into crux.deployment (id, team_id, project_id, version_id, node_id, prefix, status, note, created_by,
          updated_by)
        select pair."to", d.team_id, d.project_id, ${toId}, d.node_id, d.prefix, 'preparing', d.note, ${by}, ${by}
        from pair join crux.deployment d on d.id = pair."from"),
      configured as (
        insert into crux.container_config (type, deployment_id, fields, updated_by)
        select 'deployment', pair."to", coalesce(c.fields, '{}'), ${by}
        from pair left join crux.container_config c on c.deployment_id = pair."from"),
      carried as (
        insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
        select pair."to", l.team_id, l.config_bundle_id, l."order"
        from pair join crux.deployment_config_bundle l on l.deployment_id = pair."from")
    select "from", "to" from pair`.rows<{ from: string; to: string }>(queries)
  if (rows.length > 0) await copyInstances(queries, { deployments: rows, images, by })
  return rows.length
}

type Pair = { from: string; to: string }

/** One instance per image and deployment; it is empty where the old deployment had none. */
const copyInstances = (
  queries: Queries,
  { deployments, images, by }: { deployments: Pair[]; images: ReadonlyMap<string, string>; by: string },
) =>
  sql`with deployed as (select * from unnest(${deployments.map((pair) => pair.from)}::uuid[],
      ${deployments.map((pair) => pair.to)}::uuid[]) as t("from", "to")),
      image as (select * from unnest(${[...images.keys()]}::uuid[], ${[...images.values()]}::uuid[]) as t("from",
        "to")),
      pair as materialized (
        select uuidv7() as id, deployed."to" as deployment_id, image."to" as image_id, old.id as old_id
        from deployed cross join image
        left join crux.instance old on old.deployment_id = deployed."from" and old.image_id = image."from"),
      copied as (insert into crux.instance (id, deployment_id, image_id) select id, deployment_id, image_id from pair)
    insert into crux.container_config (type, instance_id, fields, updated_by)
    select 'instance', pair.id, coalesce(c.fields, '{}'), ${by}
    from pair left join crux.container_config c on c.instance_id = pair.old_id`.execute(queries)
