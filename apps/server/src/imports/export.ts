import { exportCompose } from '@crux/compose'
import { ContainerConfigFields } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { findProject } from '../projects/index.ts'
import { imageReference } from '../releases/index.ts'
import { findVersion, type VersionPath } from '../versions/index.ts'
import { selectExportedImages } from './store.ts'

/** A version as a compose file, which imports to the same images and configurations. */
export async function exportVersion(
  app: App,
  { team }: Caller,
  path: VersionPath,
): Promise<{ fileName: string; text: string }> {
  const { pool } = app.database
  const [project, version] = await Promise.all([findProject(app, team, path.projectId), findVersion(pool, team, path)])
  const images = await selectExportedImages(pool, version.id)
  const text = exportCompose({
    name: project.name,
    images: images.map(({ name, tag, fields, registry }) => ({
      name: imageReference(registry, name),
      tag,
      config: ContainerConfigFields.parse(fields),
    })),
  })
  return { fileName: `${toFileName(`${project.name}-${version.name}`)}.yaml`, text }
}

/** Without characters that are special within the quotes of a header, or in a path. */
const toFileName = (name: string) => name.replace(/[^\w.-]+/g, '_')
