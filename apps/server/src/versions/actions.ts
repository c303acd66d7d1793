import { type Body, CruxError, type Params, type ResponseInput } from '@crux/contract'
import { isVersionDeletable, isVersionMutable, type VersionAction, versionAction } from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import {
  filterEmptyTargets,
  listRunning,
  listTargets,
  type RunningTarget,
  releaseTarget,
  removeContainers,
  toLastRelease,
  toRemovedText,
  toRunningContainers,
} from '../deployments/index.ts'
import { getStatus } from '../nodes/index.ts'
import { findProject, lockProject, type ProjectVersions, projectNotFound } from '../projects/index.ts'
import { recordEvent } from '../system/index.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { copyDeployments, copyImages } from './copy-store.ts'
import * as store from './store.ts'

export type VersionPath = Pick<Params<'versions.get'>, 'projectId' | 'versionId'>
type Version = ResponseInput<'versions.create'>

/** An obsolete deployment was already replaced, and one in progress belongs to its own version. */
const copiedOnIncrease = ['successful', 'preparing', 'failed'] as const

export async function listVersions(
  app: App,
  { team }: Caller,
  projectId: string,
  nameContains?: string,
): Promise<Version[]> {
  await findProject(app, team, projectId)
  return (await store.selectVersions(app.database.pool, projectId, nameContains)).map(store.toVersion)
}

export const projectVersions: ProjectVersions = {
  list: async (queries, projectId) => (await store.selectVersions(queries, projectId)).map(store.toVersion),
  createRolling: (queries, version) =>
    store.insertVersion(queries, {
      ...version,
      name: 'rolling',
      type: 'rolling',
      isDefault: true,
      autoCopyDeployments: false,
    }),
}

/** @throws CruxError notFound when it is not in this project of this team */
export async function findVersion(
  queries: Queries,
  team: TeamContext,
  path: VersionPath,
  lock = false,
): Promise<store.VersionRow> {
  const row = await store.selectVersion(queries, { teamId: team.id, ...pick(path) }, lock)
  if (!row) throw new CruxError('notFound', { property: 'versionId', value: path.versionId })
  return row
}

/** Reads the images of a version; `images/` implements it, and the composition passes it in. */
export type ListImages = (queries: Queries, versionId: string) => Promise<ResponseInput<'versions.get'>['images']>

export async function getVersion(
  app: App,
  listImages: ListImages,
  { team }: Caller,
  path: VersionPath,
): Promise<ResponseInput<'versions.get'>> {
  const row = await findVersion(app.database.pool, team, path)
  const [images, deployments] = await Promise.all([
    listImages(app.database.pool, row.id),
    store.selectDeployments(app.database.pool, row.id),
  ])
  return {
    ...store.toVersion(row),
    mutable: isVersionMutable(row),
    deletable: isVersionDeletable(row),
    images,
    deployments: deployments.map((deployment) => ({
      ...deployment,
      ...toLastRelease(deployment),
      audit: deployment,
      node: { ...deployment.node, status: getStatus(deployment.node) },
    })),
  }
}

/**
 * Locks a project that a version is added to.
 *
 * @throws CruxError notFound; preconditionFailed for a versionless project
 */
export async function lockVersionedProject(queries: Queries, team: TeamContext, projectId: string): Promise<void> {
  const type = await lockProject(queries, team.id, projectId)
  if (!type) throw projectNotFound(projectId)
  if (type === 'versionless')
    throw new CruxError('preconditionFailed', {
      property: 'projectId',
      value: projectId,
      description: 'A versionless project has one version: convert it first.',
    })
}

type AddedVersion = Pick<store.NewVersion, 'projectId' | 'name' | 'type' | 'by' | 'autoCopyDeployments'> & {
  changelog?: string | null | undefined
}

/**
 * Creates an empty version of a project that the caller has locked. The first version of a project is its default.
 *
 * @returns its id, and that of the default version that existed before
 */
export async function addVersion(
  queries: Queries,
  { projectId, name, changelog, type, autoCopyDeployments, by }: AddedVersion,
): Promise<{ id: string; defaultId: string | undefined }> {
  const defaultId = await store.selectDefault(queries, projectId)
  const id = await store.insertVersion(queries, {
    projectId,
    name,
    changelog: changelog || null,
    type,
    isDefault: defaultId === undefined,
    autoCopyDeployments,
    by,
  })
  return { id, defaultId }
}

/** Call it in the transaction that creates the version. */
export async function recordCreatedVersion(
  app: Pick<App, 'jobs'>,
  queries: Queries,
  { team, actor }: Caller,
  version: { id: string; name: string; projectId: string },
): Promise<void> {
  await recordTeamEvent(app, queries, {
    type: 'version-created',
    key: `version-created ${version.id}`,
    teamId: team.id,
    at: new Date().toISOString(),
    projectId: version.projectId,
    projectName: await store.selectProjectName(queries, version.projectId),
    versionId: version.id,
    versionName: version.name,
    by: actor.name,
  })
}

/** The first version of a project is its default. A later one starts with the images and deployments of the default version. */
export async function createVersion(
  app: App,
  { team, actor }: Caller,
  projectId: string,
  body: Body<'versions.create'>,
): Promise<Version> {
  const autoCopyDeployments = body.type === 'incremental' && (body.autoCopyDeployments ?? true)
  const versionId = await inTransaction(app.database, async (queries) => {
    await lockVersionedProject(queries, team, projectId)
    const { id, defaultId } = await addVersion(queries, { ...body, projectId, autoCopyDeployments, by: actor.id })
    if (defaultId) {
      // Every deployment is copied, whatever its status and the new version's type; `autoCopyDeployments` concerns only
      // increasing.
      const copy = { fromId: defaultId, toId: id, by: actor.id }
      await copyDeployments(queries, { ...copy, images: await copyImages(queries, copy) })
    }
    await recordCreatedVersion(app, queries, { team, actor }, { id, name: body.name, projectId })
    return id
  })
  recordEvent(app, { teamId: team.id, projectId, versionId }, 'version created')
  return store.toVersion(await findVersion(app.database.pool, team, { projectId, versionId }))
}

/** The next version of a chain: same type, same images, and also its deployments if the version is set to copy them. */
export async function increaseVersion(
  app: App,
  { team, actor }: Caller,
  path: VersionPath,
  body: Body<'versions.increase'>,
): Promise<Version> {
  const versionId = await inTransaction(app.database, async (queries) => {
    await lockProject(queries, team.id, path.projectId)
    const parent = await findVersion(queries, team, path, true)
    if (parent.hasChild && parent.type === 'incremental')
      throw new CruxError('alreadyExists', {
        property: 'id',
        value: parent.id,
        description: 'The next version exists already.',
      })
    assertAllowed(parent, 'increase', 'id')
    const id = await store.insertVersion(queries, {
      projectId: parent.projectId,
      name: body.name,
      changelog: body.changelog || null,
      type: parent.type,
      isDefault: false,
      autoCopyDeployments: parent.autoCopyDeployments,
      parent,
      by: actor.id,
    })
    const copy = { fromId: parent.id, toId: id, by: actor.id }
    const images = await copyImages(queries, copy)
    if (parent.autoCopyDeployments) await copyDeployments(queries, { ...copy, images, statuses: copiedOnIncrease })
    await recordCreatedVersion(app, queries, { team, actor }, { id, name: body.name, projectId: parent.projectId })
    return id
  })
  recordEvent(
    app,
    { teamId: team.id, projectId: path.projectId, versionId, parentId: path.versionId },
    'version created',
  )
  return store.toVersion(await findVersion(app.database.pool, team, { projectId: path.projectId, versionId }))
}

export async function changeVersion(
  app: App,
  { team, actor }: Caller,
  path: VersionPath,
  body: Body<'versions.update'>,
): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    const version = await findVersion(queries, team, path, true)
    assertAllowed(version, 'edit', version.projectType === 'versionless' ? 'id' : 'versionId')
    await store.updateVersion(queries, version.id, {
      name: body.name,
      changelog: body.changelog || null,
      autoCopyDeployments: version.type === 'rolling' ? false : (body.autoCopyDeployments ?? null),
      by: actor.id,
    })
  })
}

export async function makeDefault(app: App, { team, actor }: Caller, path: VersionPath): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    await lockProject(queries, team.id, path.projectId)
    const version = await findVersion(queries, team, path)
    if (!version.default) await store.updateDefault(queries, version.projectId, version.id, actor.id)
  })
}

export async function listRunningOfVersion(
  app: App,
  { team }: Caller,
  path: VersionPath,
): Promise<ResponseInput<'versions.running'>> {
  const version = await findVersion(app.database.pool, team, path)
  return (await listRunning(app.database.pool, 'version', version.id)).map(toRunningContainers)
}

/**
 * @param options.containers also removes the containers of its deployments; otherwise they continue to run, with their
 *   names and ports
 * @returns the deployment targets where containers were removed
 */
export async function removeVersion(
  app: App,
  caller: Caller,
  path: VersionPath,
  options: { containers: boolean },
): Promise<RunningTarget[]> {
  const { team } = caller
  const found = await findVersion(app.database.pool, team, path)
  assertAllowed(found, 'delete', 'versionId')
  const targets = options.containers ? await listRunning(app.database.pool, 'version', found.id) : []
  await removeContainers(app, caller, targets)
  const empty = await inTransaction(app.database, async (queries) => {
    await lockProject(queries, team.id, path.projectId)
    const version = await findVersion(queries, team, path, true)
    assertAllowed(version, 'delete', 'versionId', toRemovedText(targets))
    const preparedTargets = await listTargets(queries, 'version', version.id)
    await store.deleteVersion(queries, version.id)
    return filterEmptyTargets(queries, preparedTargets)
  })
  for (const target of empty) releaseTarget(app, target)
  recordEvent(app, { teamId: team.id, ...pick(path) }, 'version removed')
  return targets
}

/** @throws CruxError preconditionFailed with the reason that the disabled button also shows */
export function assertAllowed(version: store.VersionRow, action: VersionAction, property: string, addition = ''): void {
  const verdict = versionAction(action, version)
  if (!verdict.allowed)
    throw new CruxError('preconditionFailed', {
      property,
      value: version.id,
      description: `${verdict.reason}.${addition}`,
    })
}

const pick = ({ projectId, versionId }: VersionPath) => ({ projectId, versionId })
