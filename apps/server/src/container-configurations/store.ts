import { type ContainerConfig, ContainerConfigFields, type VersionType } from '@crux/contract'
import { isMutable, isVersionMutable } from '@crux/rules'
import { lockInOrder } from '../db/lock-order.ts'
import { type Queries, raw, type Sql, sql } from '../db/queries.ts'
import type { ConfigRow } from './config-row.ts'
import { keepRevision } from './revision-store.ts'

/** A stored layer as the wire shows it. The column is parsed, so that an outdated form of a field is detected. */
export const toContainerConfig = (row: ConfigRow): ContainerConfig => ({
  ...ContainerConfigFields.parse(row.fields),
  id: row.id,
  type: row.type,
  revision: row.revision,
  updatedAt: new Date(row.updatedAt).toISOString(),
  updatedBy: row.updatedBy,
})

/** A bundle of a deployment, with its layer. */
export type AttachedBundle = { id: string; name: string; description: string | null; config: ConfigRow }

/** A layer with all data that follows from its owner. */
export type OwnedConfig = {
  row: ConfigRow
  teamId: string
  parent: { id: string; name: string; mutable: boolean }
  /** A bundle's layer belongs to no project and no version. */
  project?: { id: string; name: string; type: 'versionless' | 'versioned' }
  version?: { id: string; name: string; type: VersionType }
  configBundle?: { id: string; name: string }
  image?: { id: string; name: string; tag: string | null }
  /** The image's own layer; for an image's configuration the same row. */
  imageConfig?: ConfigRow
  instanceId?: string
  deployment?: {
    id: string
    prefix: string
    status: 'preparing' | 'in-progress' | 'successful' | 'failed' | 'obsolete'
    mutable: boolean
    config: ConfigRow
    bundles: AttachedBundle[]
    node: { id: string; name: string; type: 'docker' | 'k8s'; publicKey: string | null }
  }
}

/** A layer as one value of a query, for `toContainerConfig`. */
export const configJson = (alias: string) =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'fields', ${alias}.fields, 'revision', ${alias}.revision,
    'updatedAt', ${alias}.updated_at, 'updatedBy', ${alias}.updated_by)`

/** The bundles of a deployment in the order of its page, as one value of a query. */
export const bundlesJson = (deploymentId: Sql) => sql`(
  select coalesce(json_agg(json_build_object('id', bundle.id, 'name', bundle.name, 'description', bundle.description,
    'config', ${raw(configJson('bc'))}) order by link."order", bundle.id), '[]')
  from crux.deployment_config_bundle link
  join crux.config_bundle bundle on bundle.id = link.config_bundle_id
  join crux.container_config bc on bc.config_bundle_id = bundle.id
  where link.deployment_id = ${deploymentId})`

const ownedSql = (configId: string) => sql`
  select ${raw(configJson('c'))} as "row", coalesce(p.team_id, b.team_id) as team_id,
    case when p.id is not null then json_build_object('id', p.id, 'name', p.name, 'type', p.type) end as project,
    case when v.id is not null then json_build_object('id', v.id, 'name', v.name, 'type', v.type) end as version,
    case when b.id is not null then json_build_object('id', b.id, 'name', b.name) end as config_bundle,
    exists (select from crux.version child where child.parent_id = v.id) as has_child,
    (select coalesce(json_agg(distinct o.status), '[]') from crux.deployment o where o.version_id = v.id) as statuses,
    case when i.id is not null then json_build_object('id', i.id, 'name', i.name, 'tag', i.tag) end as image,
    case when ic.id is not null then ${raw(configJson('ic'))} end as image_config,
    inst.id as instance_id,
    case when d.id is not null then json_build_object('id', d.id, 'prefix', d.prefix, 'status', d.status,
      'config', ${raw(configJson('dc'))}, 'bundles', ${bundlesJson(raw('d.id'))},
      'node', json_build_object('id', n.id, 'name', n.name, 'type', n.type, 'publicKey', n.public_key)) end as deployment
  from crux.container_config c
  left join crux.instance inst on inst.id = c.instance_id
  left join crux.image i on i.id = coalesce(c.image_id, inst.image_id)
  left join crux.container_config ic on ic.image_id = i.id
  left join crux.deployment d on d.id = coalesce(c.deployment_id, inst.deployment_id)
  left join crux.container_config dc on dc.deployment_id = d.id
  left join crux.node n on n.id = d.node_id
  left join crux.version v on v.id = coalesce(d.version_id, i.version_id)
  left join crux.project p on p.id = v.project_id
  left join crux.config_bundle b on b.id = c.config_bundle_id
  where c.id = ${configId}`

type OwnedRow = {
  row: ConfigRow
  teamId: string
  project: OwnedConfig['project'] | null
  version: OwnedConfig['version'] | null
  configBundle: OwnedConfig['configBundle'] | null
  hasChild: boolean
  statuses: NonNullable<OwnedConfig['deployment']>['status'][]
  deployment: Omit<NonNullable<OwnedConfig['deployment']>, 'mutable'> | null
  image: OwnedConfig['image'] | null
  imageConfig: ConfigRow | null
  instanceId: string | null
}

/** @returns undefined when there is no such layer in this team; a layer of another team looks the same */
export async function findConfig(queries: Queries, teamId: string, configId: string): Promise<OwnedConfig | undefined> {
  const found = await ownedSql(configId).first<OwnedRow>(queries, 'config owned')
  if (!found || found.teamId !== teamId) return undefined
  const { row, teamId: _, hasChild, statuses, deployment: target, ...owner } = found
  const { image, project, version, configBundle } = owner
  const deployment =
    target && version
      ? { ...target, mutable: isMutable({ status: target.status, versionType: version.type }) }
      : undefined
  const owned = {
    row,
    teamId,
    project: project ?? undefined,
    version: version ?? undefined,
    configBundle: configBundle ?? undefined,
    image: image ?? undefined,
    imageConfig: owner.imageConfig ?? undefined,
    instanceId: owner.instanceId ?? undefined,
    deployment,
  }
  // A bundle can be changed whatever the status of the deployments that use it.
  if (configBundle) return { ...owned, parent: { ...configBundle, mutable: true } }
  if (row.type === 'deployment' && deployment)
    return { ...owned, parent: { id: deployment.id, name: deployment.prefix, mutable: deployment.mutable } }
  const versionMutable =
    project && version
      ? isVersionMutable({
          type: version.type,
          projectType: project.type,
          hasChild,
          deploymentStatuses: statuses,
        })
      : false
  return {
    ...owned,
    parent: {
      id: image?.id ?? '',
      name: image?.name ?? '',
      mutable: deployment ? deployment.mutable : versionMutable,
    },
  }
}

/** The layer alone, for callers that have already checked the right to it. */
export const readConfig = (queries: Queries, configId: string) =>
  sql`select ${raw(configJson('c'))} as "row"
    from crux.container_config c where c.id = ${configId}`.value<ConfigRow>(queries, 'config row')

/**
 * Waits for transactions that change the same layer, delete its owner, or start its deployment; the lock lasts until
 * the transaction ends. Owners are locked first, the widest first, in the order of db/lock-order.ts, so that no
 * deadlock occurs.
 */
export async function lockConfig(queries: Queries, configId: string): Promise<void> {
  const owners = await sql`select i.version_id as version, coalesce(c.deployment_id, inst.deployment_id) as deployment,
    c.image_id as image,
      c.instance_id as instance, c.config_bundle_id as bundle
    from crux.container_config c
    left join crux.image i on i.id = c.image_id
    left join crux.instance inst on inst.id = c.instance_id
    where c.id = ${configId}`.first<Record<'version' | 'deployment' | 'image' | 'instance' | 'bundle', string | null>>(
    queries,
    'owners of a config',
  )
  if (!owners) return
  const { version, deployment, image, instance, bundle } = owners
  await lockInOrder(queries, {
    version,
    deployment,
    image,
    instance,
    config_bundle: bundle,
    container_config: configId,
  })
}

export async function readChanges(queries: Queries, configId: string): Promise<Map<string, number>> {
  const rows = await sql`select property, revision
    from crux.container_config_change
    where config_id = ${configId}`.rows<{ property: string; revision: number }>(queries)
  return new Map(rows.map((row) => [row.property, row.revision]))
}

/** Writes the new fields, records which parts this revision changed and its result, and updates the owner's timestamp. */
export async function writeConfig(
  queries: Queries,
  config: OwnedConfig,
  change: { fields: ContainerConfigFields; revision: number; changed: readonly string[]; userId: string },
): Promise<void> {
  const { fields, revision, changed, userId } = change
  const { id } = config.row
  await keepRevision(queries, config.row, change)
  await sql`update crux.container_config set fields = ${JSON.stringify(fields)}, revision = ${revision},
    updated_at = now(), updated_by = ${userId} where id = ${id}`.execute(queries, 'write config')
  if (changed.length > 0)
    await sql`insert into crux.container_config_change (config_id, property, revision, updated_by)
      select ${id}, property, ${revision}, ${userId} from unnest(${changed}::text[]) as property
      on conflict (config_id, property) do update
      set revision = ${revision}, updated_by = ${userId}, updated_at = now()`.execute(queries)
  if (config.row.type === 'image')
    await sql`update crux.image set updated_at = now(), updated_by = ${userId}
      where id = ${config.image?.id}`.execute(queries)
  if (config.configBundle)
    await sql`update crux.config_bundle set updated_at = now(), updated_by = ${userId}
      where id = ${config.configBundle.id}`.execute(queries)
  if (config.instanceId)
    await sql`update crux.instance set updated_at = now() where id = ${config.instanceId}`.execute(queries)
  if (config.deployment)
    await sql`update crux.deployment set updated_at = now(), updated_by = ${userId}
      where id = ${config.deployment.id}`.execute(queries)
}
