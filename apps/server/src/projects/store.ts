import type { ProjectType } from '@crux/contract'
import { isoTypes } from '@crux/postgres'
import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'

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

const columns = `p.id, p.name, p.type, p.description, p.created_at, p.created_by,
  p.updated_at, p.updated_by,
  (select count(*)::int from crux.version v where v.project_id = p.id) as version_count`

export function selectProjects(app: App, teamId: string): Promise<readonly ProjectRow[]> {
  return app.database.sharedRead<ProjectRow>({
    name: 'projects of team',
    types: isoTypes,
    text: `select ${columns} from crux.project p where p.team_id = $1 order by p.name`,
    values: [teamId],
  })
}

export async function selectProject(queries: Queries, teamId: string, id: string): Promise<ProjectRow | undefined> {
  const { rows } = await queries.query<ProjectRow>({
    name: 'project',
    types: isoTypes,
    text: `select ${columns}, exists (select from crux.deployment d where d.project_id = p.id and d.status = 'in-progress') as in_progress
      from crux.project p where p.id = $1 and p.team_id = $2`,
    values: [id, teamId],
  })
  return rows[0]
}

/** Serialises changes that depend on the versions of a project: the default, names, chains. */
export async function lockProject(queries: Queries, teamId: string, id: string): Promise<ProjectType | undefined> {
  const { rows } = await queries.query<{ type: ProjectType }>(
    'select type from crux.project where id = $1 and team_id = $2 for update',
    [id, teamId],
  )
  return rows[0]?.type
}

type NewProject = { teamId: string; name: string; description: string | null; type: ProjectType; by: string }

export async function insertProject(queries: Queries, project: NewProject): Promise<string> {
  const { rows } = await queries.query<{ id: string }>(
    `insert into crux.project (team_id, name, description, type, created_by, updated_by)
      values ($1, $2, $3, $4, $5, $5) returning id`,
    [project.teamId, project.name, project.description, project.type, project.by],
  )
  if (!rows[0]) throw new Error('the insert of a project returned no row')
  return rows[0].id
}

export async function updateProject(
  queries: Queries,
  id: string,
  values: { name: string; description: string | null; by: string },
): Promise<void> {
  await queries.query(
    'update crux.project set name = $2, description = $3, updated_by = $4, updated_at = now() where id = $1',
    [id, values.name, values.description, values.by],
  )
}

export async function updateChangelogs(
  queries: Queries,
  projectId: string,
  changelog: string,
  by: string,
): Promise<void> {
  await queries.query(
    'update crux.version set changelog = $2, updated_by = $3, updated_at = now() where project_id = $1',
    [projectId, changelog, by],
  )
}

export async function updateProjectType(queries: Queries, id: string, by: string): Promise<void> {
  await queries.query(
    `update crux.project set type = 'versioned', updated_by = $2, updated_at = now() where id = $1 and type <> 'versioned'`,
    [id, by],
  )
}

/** @returns false while a deployment is in progress, also one that was started concurrently */
export async function deleteProject(queries: Queries, id: string): Promise<boolean> {
  // While the versions are locked no start begins, and an earlier one has ended or is visible.
  await queries.query('select from crux.project where id = $1 for update', [id])
  await queries.query('select from crux.version where project_id = $1 order by id for update', [id])
  const busy = await queries.query(
    `select from crux.deployment where project_id = $1 and status = 'in-progress' limit 1`,
    [id],
  )
  // Checked before they are locked: the end of a release has its own deployment locked and needs those that it
  // replaces.
  if (busy.rowCount !== 0) return false
  await queries.query('select from crux.deployment where project_id = $1 order by id for update', [id])
  const { rowCount } = await queries.query('delete from crux.project where id = $1', [id])
  return rowCount === 1
}
