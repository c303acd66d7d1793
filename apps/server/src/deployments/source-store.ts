import { defaultContainerName } from '@crux/rules'
import { type Queries, type Sql, sql } from '../db/queries.ts'
import type { MatchableImage } from './match-images.ts'

/** The images of a version, in its order. */
export const selectImages = (queries: Queries, versionId: string): Promise<MatchableImage[]> =>
  select(queries, sql`where i.version_id = ${versionId}`)

/** The images that a deployment has instances of. */
export const selectImagesOfDeployment = (queries: Queries, deploymentId: string): Promise<MatchableImage[]> =>
  select(queries, sql`join crux.instance inst on inst.image_id = i.id where inst.deployment_id = ${deploymentId}`)

async function select(queries: Queries, which: Sql): Promise<MatchableImage[]> {
  const rows = await sql`select i.id, i.registry_id, i.name, c.fields->>'name' as container_name
    from crux.image i join crux.container_config c on c.image_id = i.id ${which}
    order by i."order", i.id`.rows<Omit<MatchableImage, 'containerName'> & { containerName: string | null }>(queries)
  return rows.map((row) => ({ ...row, containerName: row.containerName || defaultContainerName(row.name) }))
}

/** @param images the ids of the images of the source by those of the images of the copy */
export const copyMatchedConfigs = (
  queries: Queries,
  copy: { from: string; to: string; userId: string },
  images: ReadonlyMap<string, string>,
) =>
  sql`update crux.container_config c
    set fields = source.fields, updated_at = now(), updated_by = ${copy.userId}
    from unnest(${[...images.keys()]}::uuid[], ${[...images.values()]}::uuid[]) as pair("to", "from")
    join crux.instance old on old.image_id = pair."from" and old.deployment_id = ${copy.from}
    join crux.container_config source on source.instance_id = old.id
    join crux.instance new on new.image_id = pair."to" and new.deployment_id = ${copy.to}
    where c.instance_id = new.id`.execute(queries)
