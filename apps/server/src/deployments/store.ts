import { CruxError, isClusterNamespace, type NodeType, type VersionType } from '@crux/contract'
import { type AttachedBundle, bundlesJson, type ConfigRow, configJson } from '../container-configurations/index.ts'
import { type Queries, raw, sql } from '../db/queries.ts'
import { findNodeType } from '../nodes/index.ts'
import type { Owner } from '../releases/index.ts'

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
  ids: { versionId: string; nodeId: string; prefix: string },
): Promise<TargetVersion> {
  await sql`select from crux.project where id = (select project_id from crux.version where id = ${ids.versionId})
    for key share`.execute(queries)
  const version = await sql`select p.team_id, p.id as project_id, v.type,
      (select count(*)::int from crux.image i where i.version_id = v.id) as images
    from crux.version v join crux.project p on p.id = v.project_id
    where v.id = ${ids.versionId} and p.team_id = ${teamId} for update of v`.first<TargetVersion>(queries)
  if (!version) throw new CruxError('notFound', { property: 'versionId', value: ids.versionId })
  const nodeType = await findNodeType(queries, teamId, ids.nodeId)
  if (!nodeType) throw new CruxError('notFound', { property: 'nodeId', value: ids.nodeId })
  assertPrefix(nodeType, ids.prefix)
  return version
}

/** @throws CruxError invalidArgument for a namespace of a cluster's own */
export function assertPrefix(nodeType: NodeType, prefix: string): void {
  if (nodeType !== 'k8s' || !isClusterNamespace(prefix)) return
  throw new CruxError('invalidArgument', {
    property: 'prefix',
    value: prefix,
    description: 'The namespaces default and kube-* belong to the cluster: choose another prefix.',
  })
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
export const insertDeployment = (queries: Queries, row: NewDeployment) =>
  sql`with made as (
      insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, protected, note, created_by,
        updated_by)
      values (${row.teamId}, ${row.projectId}, ${row.versionId}, ${row.nodeId}, ${row.prefix}, ${row.protected},
        ${row.note}, ${row.userId}, ${row.userId}) returning id),
    configured as (
      insert into crux.container_config (type, deployment_id, updated_by) select 'deployment', id, ${row.userId}
    from made),
    instances as (
      insert into crux.instance (deployment_id, image_id)
      select made.id, i.id from made, crux.image i where i.version_id = ${row.versionId} returning id),
    instance_configs as (
      insert into crux.container_config (type, instance_id, updated_by) select 'instance', id, ${row.userId}
    from instances)
    select id from made`.id(queries, 'insert deployment')

/** Stores the complete list in its order. Foreign keys guarantee that all bundles belong to the deployment's team. */
export async function replaceBundles(
  queries: Queries,
  deployment: { id: string; teamId: string },
  bundleIds: readonly string[],
): Promise<void> {
  await sql`delete from crux.deployment_config_bundle where deployment_id = ${deployment.id}`.execute(queries)
  if (bundleIds.length === 0) return
  await sql`insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
    select ${deployment.id}, ${deployment.teamId}, id, position
    from unnest(${bundleIds}::uuid[]) with ordinality as t(id, position)`.execute(queries)
}

export const copyBundles = (queries: Queries, copy: { from: string; to: string }) =>
  sql`insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order")
    select ${copy.to}, team_id, config_bundle_id, "order" from crux.deployment_config_bundle
    where deployment_id = ${copy.from}`.execute(queries)

/** The deployments among these that have a bundle. */
export const carriersAmong = (queries: Queries, configBundleId: string, deploymentIds: readonly string[]) =>
  sql`select deployment_id as id from crux.deployment_config_bundle
    where config_bundle_id = ${configBundleId}
    and deployment_id = any(${deploymentIds}::uuid[])`.column(queries, 'carriers of a bundle')

/**
 * Copies the configurations of a deployment and of its instances. Values of secrets are readable on one node only, so a
 * copy to another node has none: instances lose their own secrets and show the keys that their image requires; the
 * deployment's configuration keeps its keys without values.
 */
export async function copyConfigs(
  queries: Queries,
  copy: { from: string; to: string; userId: string; secrets: boolean },
): Promise<void> {
  await copyOwnConfig(queries, copy)
  await sql`update crux.container_config c
    set fields = ${raw(copy.secrets ? 'source.fields' : `source.fields - 'secrets'`)},
      updated_at = now(), updated_by = ${copy.userId}
    from crux.container_config source
    join crux.instance old on old.id = source.instance_id and old.deployment_id = ${copy.from}
    join crux.instance new on new.image_id = old.image_id and new.deployment_id = ${copy.to}
    where c.instance_id = new.id`.execute(queries)
}

/** The configuration of the deployment itself, without its instances. */
export const copyOwnConfig = (queries: Queries, copy: { from: string; to: string; userId: string; secrets: boolean }) =>
  sql`update crux.container_config c
    set fields = ${raw(copy.secrets ? 'source.fields' : withoutSecretValues)}, updated_at = now(),
    updated_by = ${copy.userId}
    from crux.container_config source
    where source.deployment_id = ${copy.from} and c.deployment_id = ${copy.to}`.execute(queries)

const withoutSecretValues = `case when jsonb_typeof(source.fields->'secrets') = 'array' then jsonb_set(source.fields, '{secrets}', (
    select coalesce(jsonb_agg(row - '{value,encrypted,publicKey}'::text[] order by place), '[]')
    from jsonb_array_elements(source.fields->'secrets') with ordinality as one(row, place))) else source.fields end`

/**
 * Copies the secrets of the newest deployment of this version at this deployment target, so that users need not enter
 * them again.
 */
export const reuseSecrets = (
  queries: Queries,
  deploymentId: string,
  target: { versionId: string; nodeId: string; prefix: string },
) =>
  sql`with previous as (
      select id from crux.deployment where version_id = ${target.versionId} and node_id = ${target.nodeId}
    and prefix = ${target.prefix} and id <> ${deploymentId}
      order by created_at desc limit 1)
    update crux.container_config c set fields = c.fields || jsonb_build_object('secrets', source.fields->'secrets')
    from previous
    join crux.instance old on old.deployment_id = previous.id
    join crux.container_config source on source.instance_id = old.id
    join crux.instance new on new.image_id = old.image_id and new.deployment_id = ${deploymentId}
    where c.instance_id = new.id and jsonb_typeof(source.fields->'secrets') = 'array'`.execute(queries)

export const imageLayers = (queries: Queries, versionId: string) =>
  sql`select i.name, c.fields from crux.image i join crux.container_config c on c.image_id = i.id
    where i.version_id = ${versionId} order by i."order", i.id`.rows<{ name: string; fields: unknown }>(queries)

type PageData = {
  attempts: number
  publicKey: string | null
  config: ConfigRow
  bundles: AttachedBundle[]
  token: { id: string; name: string; createdAt: string; createdBy: string; expiresAt: string | null } | null
  running: { deploymentId: string; number: number; versionName: string; startedAt: string } | null
}

/** What the page of a deployment shows in addition to its row in the list. */
export const selectPageData = (queries: Queries, id: string) =>
  sql`select d.attempts, n.public_key, ${raw(configJson('c'))} as config, ${bundlesJson(raw('d.id'))} as bundles,
      (select json_build_object('deploymentId', r.deployment_id, 'number', r.number, 'versionName', r.version_name,
          'startedAt', r.started_at)
        from crux.release r where r.node_id = d.node_id and r.prefix = d.prefix and r.project_id = d.project_id
          and r.current) as running,
      (select json_build_object('id', k.id, 'name', k.name, 'createdAt', k.created_at, 'createdBy', k.created_by,
          'expiresAt', k.expires_at)
        from crux.access_token k where k.deployment_id = d.id and k.hash is not null) as token
    from crux.deployment d
    join crux.node n on n.id = d.node_id
    join crux.container_config c on c.deployment_id = d.id
    where d.id = ${id}`.first<PageData>(queries, 'deployment beside')

export async function selectBundles(queries: Queries, id: string): Promise<AttachedBundle[]> {
  const { bundles } = await sql`select ${bundlesJson(sql`${id}`)} as bundles`.one<{ bundles: AttachedBundle[] }>(
    queries,
    'bundles of a deployment',
  )
  return bundles
}

export const updateDeploymentRow = (
  queries: Queries,
  id: string,
  { prefix, note, ...row }: Pick<NewDeployment, 'prefix' | 'note' | 'protected' | 'userId'>,
) =>
  sql`update crux.deployment set prefix = ${prefix}, note = ${note}, protected = ${row.protected},
    updated_at = now(), updated_by = ${row.userId} where id = ${id}`.execute(queries)

export const deleteDeploymentRow = (queries: Queries, id: string) =>
  sql`delete from crux.deployment where id = ${id}`.execute(queries)

export type DeploymentTarget = Owner & { teamId: string }

/** Whether the project has no deployment left there. */
export const isEmptyTarget = async (queries: Queries, { projectId, nodeId, prefix }: Owner): Promise<boolean> =>
  (await sql`select from crux.deployment
    where node_id = ${nodeId} and prefix = ${prefix} and project_id = ${projectId} limit 1`.execute(queries)) === 0

/** The deployment targets of a version or a project. */
export const listTargets = (queries: Queries, of: 'version' | 'project', id: string) =>
  sql`select distinct team_id, project_id, node_id, prefix from crux.deployment
    where ${raw(of)}_id = ${id}`.rows<DeploymentTarget>(queries, `places of ${of}`)

export async function filterEmptyTargets(
  queries: Queries,
  targets: readonly DeploymentTarget[],
): Promise<DeploymentTarget[]> {
  const empty: DeploymentTarget[] = []
  for (const target of targets) if (await isEmptyTarget(queries, target)) empty.push(target)
  return empty
}
