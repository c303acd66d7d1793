import { CruxError, type VersionType } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

export type TargetVersion = { teamId: string; projectId: string; type: VersionType; images: number }

/**
 * The version, locked until the transaction ends, so that two creations at one deployment target run one after another;
 * and the node of the same team.
 *
 * @throws CruxError notFound `versionId` or `nodeId`, also for those of another team
 */
export async function findTargetVersion(
  queries: Queries,
  teamId: string,
  ids: { versionId: string; nodeId: string },
): Promise<TargetVersion> {
  await queries.query(
    `select from crux.project where id = (select project_id from crux.version where id = $1) for key share`,
    [ids.versionId],
  )
  const { rows } = await queries.query<TargetVersion>(
    `select p.team_id, p.id as project_id, v.type,
       (select count(*)::int from crux.image i where i.version_id = v.id) as images
     from crux.version v join crux.project p on p.id = v.project_id
     where v.id = $1 and p.team_id = $2 for update of v`,
    [ids.versionId, teamId],
  )
  const [version] = rows
  if (!version) throw new CruxError('notFound', { property: 'versionId', value: ids.versionId })
  const { rowCount } = await queries.query('select from crux.node where id = $1 and team_id = $2', [ids.nodeId, teamId])
  if (rowCount === 0) throw new CruxError('notFound', { property: 'nodeId', value: ids.nodeId })
  return version
}

export type NewDeployment = {
  teamId: string
  projectId: string
  versionId: string
  nodeId: string
  prefix: string
  protected: boolean
  note: string | null
  userId: string
}

/** Inserts the deployment with an empty configuration, and an instance with an empty one for each image of the version. */
export async function insertDeployment(queries: Queries, row: NewDeployment): Promise<string> {
  const { rows } = await queries.query<{ id: string }>({
    name: 'insert deployment',
    text: `with made as (
        insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, protected, note, created_by, updated_by)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $8) returning id),
      configured as (
        insert into crux.container_config (type, deployment_id, updated_by) select 'deployment', id, $8 from made),
      instances as (
        insert into crux.instance (deployment_id, image_id)
        select made.id, i.id from made, crux.image i where i.version_id = $3 returning id),
      instance_configs as (
        insert into crux.container_config (type, instance_id, updated_by) select 'instance', id, $8 from instances)
      select id from made`,
    values: [row.teamId, row.projectId, row.versionId, row.nodeId, row.prefix, row.protected, row.note, row.userId],
  })
  return rows[0]?.id ?? ''
}

/** Stores the complete list in its order. Foreign keys guarantee that all bundles belong to the deployment's team. */
export async function replaceBundles(
  queries: Queries,
  deployment: { id: string; teamId: string },
  bundleIds: readonly string[],
): Promise<void> {
  await queries.query('delete from crux.deployment_config_bundle where deployment_id = $1', [deployment.id])
  if (bundleIds.length === 0) return
  await queries.query(
    `insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
     select $1, $2, id, position from unnest($3::uuid[]) with ordinality as t(id, position)`,
    [deployment.id, deployment.teamId, bundleIds],
  )
}

export async function copyBundles(queries: Queries, copy: { from: string; to: string }): Promise<void> {
  await queries.query(
    `insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
     select $2, team_id, config_bundle_id, "order" from crux.deployment_config_bundle where deployment_id = $1`,
    [copy.from, copy.to],
  )
}

/** The deployments among these that have a bundle. */
export async function carriersAmong(
  queries: Queries,
  configBundleId: string,
  deploymentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await queries.query<{ id: string }>({
    name: 'carriers of a bundle',
    text: `select deployment_id as id from crux.deployment_config_bundle
      where config_bundle_id = $1 and deployment_id = any($2::uuid[])`,
    values: [configBundleId, deploymentIds],
  })
  return rows.map((row) => row.id)
}

/**
 * Copies the configurations of a deployment and of its instances. Values of secrets are readable on one node only, so a
 * copy to another node has none: instances lose their own secrets and show the keys that their image requires; the
 * deployment's configuration keeps its keys without values.
 */
export async function copyConfigs(
  queries: Queries,
  copy: { from: string; to: string; userId: string; secrets: boolean },
): Promise<void> {
  await queries.query(
    `update crux.container_config c set fields = ${copy.secrets ? 'source.fields' : withoutSecretValues}, updated_at = now(), updated_by = $3
     from crux.container_config source where source.deployment_id = $1 and c.deployment_id = $2`,
    [copy.from, copy.to, copy.userId],
  )
  await queries.query(
    `update crux.container_config c set fields = ${copy.secrets ? 'source.fields' : `source.fields - 'secrets'`},
       updated_at = now(), updated_by = $3
     from crux.container_config source
     join crux.instance old on old.id = source.instance_id and old.deployment_id = $1
     join crux.instance new on new.image_id = old.image_id and new.deployment_id = $2
     where c.instance_id = new.id`,
    [copy.from, copy.to, copy.userId],
  )
}

const withoutSecretValues = `case when jsonb_typeof(source.fields->'secrets') = 'array' then jsonb_set(source.fields, '{secrets}', (
    select coalesce(jsonb_agg(row - '{value,encrypted,publicKey}'::text[] order by place), '[]')
    from jsonb_array_elements(source.fields->'secrets') with ordinality as one(row, place))) else source.fields end`

/**
 * Copies the secrets of the newest deployment of this version at this deployment target, so that users need not enter
 * them again.
 */
export async function reuseSecrets(
  queries: Queries,
  deploymentId: string,
  target: { versionId: string; nodeId: string; prefix: string },
): Promise<void> {
  await queries.query(
    `with former as (
       select id from crux.deployment where version_id = $2 and node_id = $3 and prefix = $4 and id <> $1
       order by created_at desc limit 1)
     update crux.container_config c set fields = c.fields || jsonb_build_object('secrets', source.fields->'secrets')
     from former
     join crux.instance old on old.deployment_id = former.id
     join crux.container_config source on source.instance_id = old.id
     join crux.instance new on new.image_id = old.image_id and new.deployment_id = $1
     where c.instance_id = new.id and jsonb_typeof(source.fields->'secrets') = 'array'`,
    [deploymentId, target.versionId, target.nodeId, target.prefix],
  )
}

export async function imageLayers(queries: Queries, versionId: string): Promise<{ name: string; fields: unknown }[]> {
  const { rows } = await queries.query<{ name: string; fields: unknown }>(
    `select i.name, c.fields from crux.image i join crux.container_config c on c.image_id = i.id
     where i.version_id = $1 order by i."order", i.id`,
    [versionId],
  )
  return rows
}
