import { type Body, CruxError, type ProjectType, type ResponseInput, type VersionType } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { insertImages, type NewImage } from '../images/index.ts'
import { findProject, insertProject, toProject } from '../projects/index.ts'
import type { Browser } from '../registries/index.ts'
import { lockStorages } from '../storages/index.ts'
import { recordEvent } from '../system/index.ts'
import {
  addVersion,
  copyDeployments,
  findVersion,
  lockVersionedProject,
  projectVersions,
  recordCreatedVersion,
  toVersion,
} from '../versions/index.ts'
import { prepareImages } from './prepare.ts'

type NewVersion = { name: string; changelog?: string | null | undefined; type: VersionType }
type NewProject = {
  name: string
  description?: string | null | undefined
  changelog?: string | null | undefined
  type: ProjectType
}

/**
 * Creates a project with a version and its images inside a transaction of the caller, which has judged the images with
 * `prepareImages` before and calls `recordEvent` after the commit. The rolling version of a versionless project holds
 * the images; a versioned one needs `version`, which becomes its default.
 *
 * @throws CruxError invalidArgument `version`, `images[i].config.storage.storageId`; the unique index of names throws
 *   alreadyExists `name`
 */
export async function createProjectWithImages(
  queries: Queries,
  { team, actor }: Caller,
  input: { project: NewProject; version?: NewVersion | null | undefined; images: readonly NewImage[] },
): Promise<{ projectId: string; versionId: string; imageIds: string[] }> {
  const { project, version, images } = input
  const by = actor.id
  const projectId = await insertProject(queries, {
    teamId: team.id,
    name: project.name,
    description: project.description || null,
    type: project.type,
    by,
  })
  const versionId = await insertFirstVersion(queries, { projectId, project, version, by })
  return { projectId, versionId, imageIds: await addImages(queries, { team, actor }, versionId, images) }
}

async function insertFirstVersion(
  queries: Queries,
  {
    projectId,
    project,
    version,
    by,
  }: Pick<Parameters<typeof createProjectWithImages>[2], 'project' | 'version'> & {
    projectId: string
    by: string
  },
): Promise<string> {
  if (project.type === 'versionless')
    return await projectVersions.createRolling(queries, { projectId, changelog: project.changelog || null, by })
  if (!version)
    throw new CruxError('invalidArgument', {
      property: 'version',
      description: 'A versioned project needs a version that holds the images.',
    })
  const autoCopyDeployments = version.type === 'incremental'
  return (await addVersion(queries, { ...version, projectId, autoCopyDeployments, by })).id
}

/**
 * Adds a version that starts with the given images, not with those of the default version. As with every new version,
 * the deployments of the default version are copied; their instances are empty, because they belong to other images.
 *
 * @throws CruxError as `createProjectWithImages`, and notFound or preconditionFailed `projectId`
 */
export async function addVersionWithImages(
  queries: Queries,
  { team, actor }: Caller,
  input: { projectId: string; version: NewVersion; images: readonly NewImage[] },
): Promise<{ versionId: string; imageIds: string[] }> {
  const { projectId, version, images } = input
  const by = actor.id
  await lockVersionedProject(queries, team, projectId)
  const autoCopyDeployments = version.type === 'incremental'
  const { id, defaultId } = await addVersion(queries, { ...version, projectId, autoCopyDeployments, by })
  if (defaultId) await copyDeployments(queries, { fromId: defaultId, toId: id, by, images: new Map() })
  return { versionId: id, imageIds: await addImages(queries, { team, actor }, id, images) }
}

async function addImages(
  queries: Queries,
  { team, actor }: Caller,
  versionId: string,
  images: readonly NewImage[],
): Promise<string[]> {
  const ids = images.flatMap(({ fields }) => fields.storage?.storageId ?? [])
  const known = ids.length > 0 ? await lockStorages(queries, team.id, ids) : new Set<string>()
  for (const [index, { fields }] of images.entries()) {
    const storageId = fields.storage?.storageId
    if (storageId && !known.has(storageId))
      throw new CruxError('invalidArgument', {
        property: `images[${index}].config.storage.storageId`,
        value: storageId,
        description: 'There is no such storage in this team.',
      })
  }
  return insertImages(queries, versionId, images, actor.id)
}

export async function importProject(
  app: App,
  browser: Browser,
  caller: Caller,
  body: Body<'projects.import'>,
): Promise<ResponseInput<'projects.import'>> {
  const { team } = caller
  const images = await prepareImages(app, browser, caller, body.images)
  const { projectId, versionId } = await inTransaction(app.database, (queries) =>
    createProjectWithImages(queries, caller, { ...body, images }),
  )
  recordEvent(app, { teamId: team.id, projectId, versionId, images: images.length }, 'project created')
  return { ...toProject(await findProject(app, team, projectId)), versionId }
}

export async function importVersion(
  app: App,
  browser: Browser,
  caller: Caller,
  projectId: string,
  body: Body<'versions.import'>,
): Promise<ResponseInput<'versions.import'>> {
  const { team } = caller
  // A request for a project of another team is refused before the registries are asked.
  await findProject(app, team, projectId)
  const images = await prepareImages(app, browser, caller, body.images)
  const { versionId } = await inTransaction(app.database, async (queries) => {
    const added = await addVersionWithImages(queries, caller, { projectId, version: body, images })
    await recordCreatedVersion(app, queries, caller, { id: added.versionId, name: body.name, projectId })
    return added
  })
  recordEvent(app, { teamId: team.id, projectId, versionId, images: images.length }, 'version created')
  return toVersion(await findVersion(app.database.pool, team, { projectId, versionId }))
}
