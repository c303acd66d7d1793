import { type Queries, sql } from '../db/queries.ts'
import type { RegistryLocation } from '../releases/index.ts'

type ExportedImage = { name: string; tag: string | null; fields: unknown; registry: RegistryLocation }

/** The images of a version in the order in which they start, with what their full names are made of. */
export const selectExportedImages = (queries: Queries, versionId: string) =>
  sql`select i.name, i.tag, c.fields,
      json_build_object('type', r.type, 'url', r.url, 'imageNamePrefix', r.image_name_prefix, 'local', r.local) as registry
    from crux.image i
    join crux.registry r on r.id = i.registry_id
    join crux.container_config c on c.image_id = i.id
    where i.version_id = ${versionId} order by i."order"`.rows<ExportedImage>(queries, 'images of a compose file')
