import { CruxError, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { type ConfigRow, configJson, toContainerConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { raw, sql } from '../db/queries.ts'
import { type RegistrySummary, toRegistry } from '../registries/index.ts'

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
}
type Instance = ResponseInput<'deployments.get-instance'>

const instancesSql = sql`
  select inst.id, inst.updated_at, ${raw(configJson('c'))} as config, i.id as image_id, i.name as image_name,
    i.tag as image_tag, i."order" as image_order, i.created_at as image_created_at, i.labels as image_labels,
    ${raw(configJson('ic'))} as image_config,
    json_build_object('id', r.id, 'name', r.name, 'type', r.type, 'url', r.url, 'description', r.description,
      'icon', r.icon, 'imageNamePrefix', r.image_name_prefix) as registry
  from crux.instance inst
  join crux.image i on i.id = inst.image_id
  join crux.registry r on r.id = i.registry_id
  join crux.container_config c on c.instance_id = inst.id
  join crux.container_config ic on ic.image_id = i.id`

/** In the order of the version, in which they start. */
export async function listInstances(app: App, deploymentId: string): Promise<Instance[]> {
  const rows = await sql`${instancesSql}
    where inst.deployment_id = ${deploymentId}
    order by i."order", i.id`.rows<InstanceRow>(app.database.pool, 'instances of a deployment')
  return rows.map(toInstance)
}

/** @throws CruxError notFound */
export async function getInstance(
  app: App,
  { team }: Caller,
  ids: { deploymentId: string; instanceId: string },
): Promise<Instance> {
  const row = await sql`${instancesSql} join crux.deployment d on d.id = inst.deployment_id
    where inst.id = ${ids.instanceId} and d.id = ${ids.deploymentId}
    and d.team_id = ${team.id}`.first<InstanceRow>(app.database.pool)
  if (!row) throw new CruxError('notFound', { property: 'instanceId', value: ids.instanceId })
  return toInstance(row)
}

/** Instances of images that were just added to a version, by deployment, for open pages. */
export async function instancesOfImages(app: App, deploymentId: string, imageIds: readonly string[]) {
  const rows = await sql`${instancesSql} where inst.deployment_id = ${deploymentId} and i.id = any(${imageIds}::uuid[])
    order by i."order", i.id`.rows<InstanceRow>(app.database.pool)
  return rows.map((row) => ({ id: row.id, configId: row.config.id, image: toInstance(row).image }))
}

const toInstance = (row: InstanceRow): Instance => ({
  ...row,
  config: toContainerConfig(row.config),
  image: {
    id: row.imageId,
    name: row.imageName,
    tag: row.imageTag,
    order: row.imageOrder,
    createdAt: row.imageCreatedAt,
    labels: row.imageLabels,
    config: toContainerConfig(row.imageConfig),
    registry: toRegistry(row.registry),
  },
})
