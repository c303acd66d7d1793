import { CruxError, type FollowMode, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { type ConfigRow, configJson, toContainerConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { type Queries, raw, sql } from '../db/queries.ts'
import { type RegistrySummary, toRegistry } from '../registries/index.ts'
import { followedTagOfImage, pendingDigest, releasedDigests } from '../releases/index.ts'

type FollowingRow = {
  byId: string | null
  problem: string | null
  checkedAt: string | null
  nextCheckAt: string | null
  error: string | null
  digest: string | null
  since: string | null
}
type InstanceRow = {
  id: string
  updatedAt: Date
  config: ConfigRow
  imageId: string
  imageName: string
  imageTag: string | null
  imageOrder: number
  imageCreatedAt: Date
  imageLabels: Record<string, string>
  imageConfig: ConfigRow
  registry: RegistrySummary
  follow: FollowMode
  following: FollowingRow | null
}
type Instance = ResponseInput<'deployments.get-instance'>

const instancesSql = sql`
  select inst.id, inst.updated_at, ${raw(configJson('c'))} as config, i.id as image_id, i.name as image_name,
    i.tag as image_tag, i."order" as image_order, i.created_at as image_created_at, i.labels as image_labels,
    ${raw(configJson('ic'))} as image_config,
    json_build_object('id', r.id, 'name', r.name, 'type', r.type, 'url', r.url, 'description', r.description,
      'icon', r.icon, 'imageNamePrefix', r.image_name_prefix) as registry, inst.follow,
    case when inst.follow <> 'off' then json_build_object('byId', inst.followed_by, 'problem', inst.follow_problem,
      'checkedAt', ft.checked_at, 'nextCheckAt', ft.next_check_at, 'error', ft.error,
      'digest', ${pendingDigest}, 'since', ft.digest_at) end as following
  from crux.instance inst
  join crux.deployment d on d.id = inst.deployment_id
  join crux.image i on i.id = inst.image_id
  join crux.registry r on r.id = i.registry_id
  join crux.container_config c on c.instance_id = inst.id
  join crux.container_config ic on ic.image_id = i.id
  ${followedTagOfImage} ${releasedDigests}`

/** In the order of the version, in which they start. */
export async function listInstances(app: App, deploymentId: string): Promise<Instance[]> {
  const rows = await sql`${instancesSql}
    where inst.deployment_id = ${deploymentId}
    order by i."order", i.id`.rows<InstanceRow>(app.database.pool, 'instances of a deployment')
  return toInstances(app, rows)
}

/** @throws CruxError notFound */
export async function getInstance(
  app: App,
  { team }: Caller,
  ids: { deploymentId: string; instanceId: string },
): Promise<Instance> {
  const row = await sql`${instancesSql}
    where inst.id = ${ids.instanceId} and d.id = ${ids.deploymentId}
    and d.team_id = ${team.id}`.first<InstanceRow>(app.database.pool)
  if (!row) throw new CruxError('notFound', { property: 'instanceId', value: ids.instanceId })
  const [instance] = await toInstances(app, [row])
  if (!instance) throw new CruxError('notFound', { property: 'instanceId', value: ids.instanceId })
  return instance
}

/** Instances of images that were just added to a version, by deployment, for open pages. */
export async function instancesOfImages(app: App, deploymentId: string, imageIds: readonly string[]) {
  const rows = await sql`${instancesSql} where inst.deployment_id = ${deploymentId} and i.id = any(${imageIds}::uuid[])
    order by i."order", i.id`.rows<InstanceRow>(app.database.pool)
  return rows.map((row) => ({ id: row.id, configId: row.config.id, image: toImage(row) }))
}

/** The pending digests of the tags that instances follow, by instance. */
export async function pendingDigests(queries: Queries, deploymentId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql`select inst.id, ${pendingDigest} as digest
    from crux.instance inst
    join crux.deployment d on d.id = inst.deployment_id
    join crux.image i on i.id = inst.image_id
    ${followedTagOfImage} ${releasedDigests}
    where inst.deployment_id = ${deploymentId} and inst.follow <> 'off' and ft.digest <> running.digest`.rows<{
    id: string
    digest: string
  }>(queries, 'pending digests of a deployment')
  return new Map(rows.map(({ id, digest }) => [id, digest]))
}

async function toInstances(app: App, rows: readonly InstanceRow[]): Promise<Instance[]> {
  const people = await app.identity.people(rows.flatMap(({ following }) => following?.byId ?? []))
  return rows.map((row) => ({
    id: row.id,
    updatedAt: row.updatedAt,
    config: toContainerConfig(row.config),
    image: toImage(row),
    follow: row.follow,
    ...(row.following && { following: toFollowing(row.following, people) }),
  }))
}

const toFollowing = (
  { byId, digest, since, checkedAt, nextCheckAt, ...rest }: FollowingRow,
  people: ReadonlyMap<string, { name: string }>,
): Instance['following'] => ({
  ...rest,
  by: byId === null ? null : { id: byId, name: people.get(byId)?.name ?? 'Unknown user' },
  checkedAt: checkedAt && new Date(checkedAt),
  nextCheckAt: nextCheckAt && new Date(nextCheckAt),
  pending: digest !== null && since !== null ? { digest, since: new Date(since) } : null,
})

const toImage = (row: InstanceRow): Instance['image'] => ({
  id: row.imageId,
  name: row.imageName,
  tag: row.imageTag,
  order: row.imageOrder,
  createdAt: row.imageCreatedAt,
  labels: row.imageLabels,
  config: toContainerConfig(row.imageConfig),
  registry: toRegistry(row.registry),
})
