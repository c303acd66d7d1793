import type { ProjectType } from '@crux/contract'
import { isoTypes } from '@crux/postgres'
import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'

export type ProjectRow = {
  id: string
  name: string
  type: ProjectType
  description: string | null
  createdAt: string
  createdBy: string
  updatedAt: string
  updatedBy: string
  versionCount: number
  inProgress: boolean
}

const columns = sql`p.id, p.name, p.type, p.description, p.created_at, p.created_by,
  p.updated_at, p.updated_by,
  (select count(*)::int from crux.version v where v.project_id = p.id) as version_count`

export const selectProjects = (app: App, teamId: string) =>
  sql`select ${columns} from crux.project p
    where p.team_id = ${teamId} order by p.name`.shared<ProjectRow>(app.database, 'projects of team', isoTypes)

export const selectProject = (queries: Queries, teamId: string, id: string) =>
  sql`select ${columns}, exists (select from crux.deployment d
    where d.project_id = p.id and d.status = 'in-progress') as in_progress
    from crux.project p where p.id = ${id} and p.team_id = ${teamId}`.first<ProjectRow>(queries, 'project', isoTypes)

/** Serialises changes that depend on the versions of a project: the default, names, chains. */
export const lockProject = (queries: Queries, teamId: string, id: string) =>
  sql`select type from crux.project
    where id = ${id} and team_id = ${teamId} for update`.value<ProjectType>(queries)

type NewProject = { teamId: string; name: string; description: string | null; type: ProjectType; by: string }

export const insertProject = (queries: Queries, project: NewProject) =>
  sql`insert into crux.project (team_id, name, description, type, created_by, updated_by)
    values (${project.teamId}, ${project.name}, ${project.description}, ${project.type}, ${project.by}, ${project.by})
      returning id`.id(queries)

export const updateProject = (
  queries: Queries,
  id: string,
  values: { name: string; description: string | null; by: string },
) =>
  sql`update crux.project set name = ${values.name}, description = ${values.description}, updated_by = ${values.by},
    updated_at = now() where id = ${id}`.execute(queries)

export const updateChangelogs = (queries: Queries, projectId: string, changelog: string, by: string) =>
  sql`update crux.version set changelog = ${changelog}, updated_by = ${by}, updated_at = now()
    where project_id = ${projectId}`.execute(queries)

export const updateProjectType = (queries: Queries, id: string, by: string) =>
  sql`update crux.project set type = 'versioned', updated_by = ${by}, updated_at = now()
    where id = ${id} and type <> 'versioned'`.execute(queries)

/** @returns false while a deployment is in progress, also one that was started concurrently */
export async function deleteProject(queries: Queries, id: string): Promise<boolean> {
  // While the versions are locked no start begins, and an earlier one has ended or is visible.
  await sql`select from crux.project where id = ${id} for update`.execute(queries)
  await sql`select from crux.version where project_id = ${id} order by id for update`.execute(queries)
  const busy = await sql`select from crux.deployment
    where project_id = ${id} and status = 'in-progress' limit 1`.execute(queries)
  // Checked before they are locked: the end of a release has its own deployment locked and needs those that it
  // replaces.
  if (busy > 0) return false
  await sql`select from crux.deployment where project_id = ${id} order by id for update`.execute(queries)
  return (await sql`delete from crux.project where id = ${id}`.execute(queries)) === 1
}
