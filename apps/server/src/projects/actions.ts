import { type Body, CruxError, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import {
  listRunning,
  listTargets,
  type RunningTarget,
  releaseTarget,
  removeContainers,
  toRemovedText,
  toRunningContainers,
} from '../deployments/index.ts'
import { recordEvent } from '../system/index.ts'
import * as store from './store.ts'

type Project = ResponseInput<'projects.create'>

export async function listProjects(app: App, { team }: Caller): Promise<ResponseInput<'projects.list'>> {
  return (await store.selectProjects(app, team.id)).map(toProject)
}

/** @throws CruxError notFound */
export async function findProject(app: App, team: TeamContext, id: string): Promise<store.ProjectRow> {
  const row = await store.selectProject(app.database.pool, team.id, id)
  if (!row) throw projectNotFound(id)
  return row
}

/** The part of a project that `versions/` implements; the composition passes it in. */
export interface ProjectVersions {
  list(queries: Queries, projectId: string): Promise<ResponseInput<'projects.get'>['versions']>
  /** Creates the single version of a versionless project, and returns its id. */
  createRolling(queries: Queries, version: { projectId: string; changelog: string | null; by: string }): Promise<string>
}

export async function getProject(
  app: App,
  versions: ProjectVersions,
  { team }: Caller,
  id: string,
): Promise<ResponseInput<'projects.get'>> {
  const row = await findProject(app, team, id)
  return { ...toProject(row), deletable: !row.inProgress, versions: await versions.list(app.database.pool, id) }
}

/** Creates a project; a versionless one gets its single version at once. */
export async function createProject(
  app: App,
  versions: ProjectVersions,
  { team, actor }: Caller,
  body: Body<'projects.create'>,
): Promise<Project> {
  const id = await inTransaction(app.database, async (queries) => {
    const projectId = await store.insertProject(queries, {
      teamId: team.id,
      name: body.name,
      description: body.description || null,
      type: body.type,
      by: actor.id,
    })
    if (body.type === 'versionless')
      await versions.createRolling(queries, { projectId, changelog: body.changelog || null, by: actor.id })
    return projectId
  })
  recordEvent(app, { teamId: team.id, projectId: id }, 'project created')
  return toProject(await findProject(app, team, id))
}

export async function changeProject(
  app: App,
  { team, actor }: Caller,
  id: string,
  body: Body<'projects.update'>,
): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    const type = await store.lockProject(queries, team.id, id)
    if (!type) throw projectNotFound(id)
    if (body.changelog && type === 'versioned')
      throw new CruxError('preconditionFailed', {
        property: 'changelog',
        description: 'A versioned project keeps its changelogs in its versions.',
      })
    await store.updateProject(queries, id, { name: body.name, description: body.description || null, by: actor.id })
    if (type === 'versionless' && typeof body.changelog === 'string')
      await store.updateChangelogs(queries, id, body.changelog, actor.id)
  })
}

export async function convertProject(app: App, { team, actor }: Caller, id: string): Promise<void> {
  await findProject(app, team, id)
  await store.updateProjectType(app.database.pool, id, actor.id)
}

export async function listRunningOfProject(
  app: App,
  { team }: Caller,
  id: string,
): Promise<ResponseInput<'projects.running'>> {
  await findProject(app, team, id)
  return (await listRunning(app.database.pool, 'project', id)).map(toRunningContainers)
}

/**
 * @param options.containers also removes the containers of its deployments; otherwise they continue to run, with their
 *   names and ports
 * @returns the deployment targets where containers were removed
 */
export async function removeProject(
  app: App,
  caller: Caller,
  id: string,
  options: { containers: boolean },
): Promise<RunningTarget[]> {
  const { team } = caller
  const { inProgress } = await findProject(app, team, id)
  if (inProgress) throw deploymentInProgress(id)
  const targets = options.containers ? await listRunning(app.database.pool, 'project', id) : []
  await removeContainers(app, caller, targets)
  const preparedTargets = await inTransaction(app.database, async (queries) => {
    const deployed = await listTargets(queries, 'project', id)
    return (await store.deleteProject(queries, id)) && deployed
  })
  if (!preparedTargets) throw deploymentInProgress(id, targets)
  for (const target of preparedTargets) releaseTarget(app, target)
  recordEvent(app, { teamId: team.id, projectId: id }, 'project removed')
  return targets
}

const deploymentInProgress = (id: string, removed: readonly RunningTarget[] = []) =>
  new CruxError('preconditionFailed', {
    property: 'id',
    value: id,
    description: `A deployment of this project is in progress: wait until it ends, or cancel it.${toRemovedText(removed)}`,
  })

export const projectNotFound = (id: string) => new CruxError('notFound', { property: 'projectId', value: id })

export const toProject = (row: store.ProjectRow): Project => ({ ...row, audit: row })
