import type { ContainerConfigFields, Image } from '@crux/contract'
import { type ConfigRow, toContainerConfig } from '../container-configurations/index.ts'
import type { Queries } from '../db/transaction.ts'
import { type RegistryFace, toRegistry } from '../registries/index.ts'

type ImageRow = {
  id: string
  name: string
  tag: string | null
  order: number
  labels: Record<string, string>
  createdAt: Date
  registry: RegistryFace
  config: ConfigRow
}

const imageSql = `select i.id, i.name, i.tag, i."order", i.labels, i.created_at,
    json_build_object('id', r.id, 'name', r.name, 'type', r.type, 'url', r.url, 'description', r.description,
      'icon', r.icon, 'imageNamePrefix', r.image_name_prefix) as registry,
    json_build_object('id', c.id, 'type', c.type, 'fields', c.fields, 'revision', c.revision,
      'updatedAt', c.updated_at, 'updatedBy', c.updated_by) as config
  from crux.image i
  join crux.registry r on r.id = i.registry_id
  join crux.container_config c on c.image_id = i.id`

/** In the order in which they start. */
export async function selectImages(queries: Queries, versionId: string): Promise<Image[]> {
  const { rows } = await queries.query<ImageRow>({
    name: 'images of version',
    text: `${imageSql} where i.version_id = $1 order by i."order"`,
    values: [versionId],
  })
  return rows.map(toImage)
}

/** The ids that belong to the version. */
export async function selectImagesById(queries: Queries, versionId: string, ids: readonly string[]): Promise<Image[]> {
  const { rows } = await queries.query<ImageRow>({
    name: 'images by id',
    text: `${imageSql} where i.id = any($2::uuid[]) and i.version_id = $1 order by i."order"`,
    values: [versionId, ids],
  })
  return rows.map(toImage)
}

export async function selectImageIds(queries: Queries, versionId: string): Promise<string[]> {
  const { rows } = await queries.query<{ id: string }>({
    name: 'image ids of version',
    text: 'select id from crux.image where version_id = $1 order by "order"',
    values: [versionId],
  })
  return rows.map((row) => row.id)
}

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
  const { rows } = await queries.query<{ id: string }>(
    `with given as (
        select uuidv7() as id, position, registry_id, name, tag, labels, fields
        from unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[], $7::jsonb[]) with ordinality
          as t(registry_id, name, tag, labels, fields, position)),
      added as materialized (select * from given),
      inserted as (
        insert into crux.image (id, version_id, registry_id, name, tag, "order", labels, created_by, updated_by)
        select id, $1, registry_id, name, tag,
          position - 1 + coalesce((select max("order") + 1 from crux.image where version_id = $1), 0), labels, $6, $6
        from added),
      configured as (
        insert into crux.container_config (type, image_id, fields, updated_by) select 'image', id, fields, $6 from added)
    select id from added order by position`,
    [
      versionId,
      images.map((image) => image.registryId),
      images.map((image) => image.name),
      images.map((image) => image.tag),
      images.map((image) => JSON.stringify(image.labels)),
      by,
      images.map((image) => JSON.stringify(image.fields)),
    ],
  )
  const ids = rows.map((row) => row.id)
  await queries.query(
    `with pair as materialized (
        select uuidv7() as id, d.id as deployment_id, image.id as image_id
        from crux.deployment d cross join unnest($2::uuid[]) as image(id) where d.version_id = $1),
      inserted as (insert into crux.instance (id, deployment_id, image_id) select id, deployment_id, image_id from pair)
    insert into crux.container_config (type, instance_id, fields, updated_by) select 'instance', id, '{}', $3 from pair`,
    [versionId, ids, by],
  )
  return ids
}

export type DroppedInstance = { deploymentId: string; instanceId: string; configId: string }

/** The instances that are deleted with an image, for the pages that show them. */
export async function selectInstances(queries: Queries, imageId: string): Promise<DroppedInstance[]> {
  const { rows } = await queries.query<DroppedInstance>(
    `select i.deployment_id, i.id as instance_id, c.id as config_id
      from crux.instance i join crux.container_config c on c.instance_id = i.id where i.image_id = $1`,
    [imageId],
  )
  return rows
}

export const deleteImage = (queries: Queries, id: string) => queries.query('delete from crux.image where id = $1', [id])

export async function updateTag(
  queries: Queries,
  id: string,
  values: { tag: string; labels: Record<string, string> | undefined; by: string },
): Promise<void> {
  await queries.query(
    `update crux.image set tag = $2, labels = coalesce($3::jsonb, labels), updated_by = $4, updated_at = now() where id = $1`,
    [id, values.tag, values.labels ? JSON.stringify(values.labels) : null, values.by],
  )
}

export async function updateOrder(
  queries: Queries,
  versionId: string,
  ids: readonly string[],
  by: string,
): Promise<void> {
  await queries.query(
    `update crux.image i set "order" = t.position - 1, updated_by = $3, updated_at = now()
      from unnest($2::uuid[]) with ordinality as t(id, position) where i.id = t.id and i.version_id = $1`,
    [versionId, ids, by],
  )
}

export async function selectImageNames(queries: Queries, versionId: string, imageId: string) {
  const { rows } = await queries.query<{ id: string; name: string; registryId: string; configId: string }>(
    `select i.id, i.name, i.registry_id, c.id as config_id from crux.image i
      join crux.container_config c on c.image_id = i.id where i.id = $2 and i.version_id = $1`,
    [versionId, imageId],
  )
  return rows[0]
}

export async function selectRegistryTypes(queries: Queries, teamId: string, ids: readonly string[]) {
  const { rows } = await queries.query<{ id: string; type: Image['registry']['type'] }>(
    'select id, type from crux.registry where team_id = $1 and id = any($2::uuid[])',
    [teamId, ids],
  )
  return new Map(rows.map((row) => [row.id, row.type]))
}

const toImage = (row: ImageRow): Image => ({
  id: row.id,
  name: row.name,
  tag: row.tag,
  order: row.order,
  labels: row.labels,
  createdAt: row.createdAt.toISOString(),
  registry: toRegistry(row.registry) as Image['registry'],
  config: toContainerConfig(row.config),
})
