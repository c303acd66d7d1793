import type { ContainerConfigFields, ResponseInput } from '@crux/contract'
import { type ConfigRow, configJson, toContainerConfig } from '../container-configurations/index.ts'
import { type Queries, raw, sql } from '../db/queries.ts'
import type { image } from '../db/schema/index.ts'
import { type RegistrySummary, toRegistry } from '../registries/index.ts'

export type Image = ResponseInput<'images.get'>
type ImageRow = Pick<typeof image.$inferSelect, 'id' | 'name' | 'tag' | 'order' | 'labels' | 'createdAt'> & {
  registry: RegistrySummary
  config: ConfigRow
}

const imageSql = sql`select i.id, i.name, i.tag, i."order", i.labels, i.created_at,
    json_build_object('id', r.id, 'name', r.name, 'type', r.type, 'url', r.url, 'description', r.description,
      'icon', r.icon, 'imageNamePrefix', r.image_name_prefix) as registry,
    ${raw(configJson('c'))} as config
  from crux.image i
  join crux.registry r on r.id = i.registry_id
  join crux.container_config c on c.image_id = i.id`

/** In the order in which they start. */
export async function selectImages(queries: Queries, versionId: string): Promise<Image[]> {
  const rows = await sql`${imageSql} where i.version_id = ${versionId}
    order by i."order"`.rows<ImageRow>(queries, 'images of version')
  return rows.map(toImage)
}

/** The ids that belong to the version. */
export async function selectImagesById(queries: Queries, versionId: string, ids: readonly string[]): Promise<Image[]> {
  const rows = await sql`${imageSql} where i.id = any(${ids}::uuid[])
    and i.version_id = ${versionId} order by i."order"`.rows<ImageRow>(queries, 'images by id')
  return rows.map(toImage)
}

export const selectImageIds = (queries: Queries, versionId: string) =>
  sql`select id from crux.image
    where version_id = ${versionId} order by "order"`.column(queries, 'image ids of version')

export type NewImage = {
  registryId: string
  name: string
  tag: string | null
  labels: Record<string, string>
  fields: ContainerConfigFields
}

/** Appends images with their configurations, and an instance of each in every deployment of the version. */
export async function insertImages(
  queries: Queries,
  versionId: string,
  images: readonly NewImage[],
  by: string,
): Promise<string[]> {
  const rows = await sql`with given as (
        select uuidv7() as id, position, registry_id, name, tag, labels, fields
        from unnest(${images.map((image) => image.registryId)}::uuid[], ${images.map((image) => image.name)}::text[],
          ${images.map((image) => image.tag)}::text[], ${images.map((image) => JSON.stringify(image.labels))}::jsonb[],
          ${images.map((image) => JSON.stringify(image.fields))}::jsonb[]) with ordinality
          as t(registry_id, name, tag, labels, fields, position)),
      added as materialized (select * from given),
      inserted as (
        insert into crux.image (id, version_id, registry_id, name, tag, "order", labels, created_by, updated_by)
        select id, ${versionId}, registry_id, name, tag,
          position - 1 + coalesce((select max("order") + 1 from crux.image where version_id = ${versionId}), 0),
            labels, ${by}, ${by}
        from added),
      configured as (
        insert into crux.container_config (type, image_id, fields, updated_by) select 'image', id, fields, ${by}
          from added)
    select id from added order by position`.rows<{ id: string }>(queries)
  const ids = rows.map((row) => row.id)
  await sql`with pair as materialized (
        select uuidv7() as id, d.id as deployment_id, image.id as image_id
        from crux.deployment d cross join unnest(${ids}::uuid[]) as image(id) where d.version_id = ${versionId}),
      inserted as (insert into crux.instance (id, deployment_id, image_id) select id, deployment_id, image_id
        from pair)
    insert into crux.container_config (type, instance_id, fields, updated_by) select 'instance', id, '{}', ${by}
    from pair`.execute(queries)
  return ids
}

export type DroppedInstance = { deploymentId: string; instanceId: string; configId: string }

/** The instances that are deleted with an image, for the pages that show them. */
export const selectInstances = (queries: Queries, imageId: string) =>
  sql`select i.deployment_id, i.id as instance_id, c.id as config_id
    from crux.instance i join crux.container_config c on c.instance_id = i.id
    where i.image_id = ${imageId}`.rows<DroppedInstance>(queries)

export const deleteImage = (queries: Queries, id: string) =>
  sql`delete from crux.image
    where id = ${id}`.execute(queries)

export const updateTag = (
  queries: Queries,
  id: string,
  values: { tag: string; labels: Record<string, string> | undefined; by: string },
) =>
  sql`update crux.image set tag = ${values.tag},
    labels = coalesce(${values.labels ? JSON.stringify(values.labels) : null}::jsonb, labels),
    updated_by = ${values.by}, updated_at = now() where id = ${id}`.execute(queries)

export const updateOrder = (queries: Queries, versionId: string, ids: readonly string[], by: string) =>
  sql`update crux.image i set "order" = t.position - 1, updated_by = ${by}, updated_at = now()
    from unnest(${ids}::uuid[]) with ordinality as t(id, position)
    where i.id = t.id and i.version_id = ${versionId}`.execute(queries)

export const selectImageNames = (queries: Queries, versionId: string, imageId: string) =>
  sql`select i.id, i.name, i.registry_id, c.id as config_id from crux.image i
    join crux.container_config c on c.image_id = i.id
    where i.id = ${imageId}
    and i.version_id = ${versionId}`.first<{ id: string; name: string; registryId: string; configId: string }>(queries)

const toImage = (row: ImageRow): Image => ({
  ...row,
  registry: toRegistry(row.registry),
  config: toContainerConfig(row.config),
})
