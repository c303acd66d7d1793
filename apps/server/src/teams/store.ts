import type { TeamRole } from '@crux/contract'
import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'

export type MemberRow = { userId: string; role: TeamRole }
export type TeamRow = {
  id: string
  name: string
  slug: string
  projects: number
  nodes: number
  versions: number
  deployments: number
  members: MemberRow[]
  invitations: {
    userId: string
    email: string
    name: string
    status: 'pending' | 'expired' | 'declined'
    mailProblem: string | null
  }[]
  secondFactorRequired: boolean
  allowedDomains: string[]
}

const teamRows = sql`select t.id, t.name, t.slug, t.second_factor_required,
    t.allowed_domains,
    (select coalesce(json_agg(json_build_object('userId', i.user_id, 'email', i.email, 'name', i.name, 'mailProblem',
      i.mail_problem, 'status',
         case when i.status = 'pending' and i.expires_at <= now() then 'expired' else i.status end)
           order by i.created_at), '[]')
       from crux.invitation i where i.team_id = t.id) as invitations, (select count(*)::int from crux.project p
         where p.team_id = t.id) as projects, (select count(*)::int from crux.node n where n.team_id = t.id) as nodes,
         (select count(*)::int from crux.version v join crux.project p on p.id = v.project_id
         where p.team_id = t.id) as versions, (select count(*)::int from crux.deployment d
         where d.team_id = t.id) as deployments, (select json_agg(json_build_object('userId', m.user_id, 'role',
         m.role) order by m.created_at, m.user_id)
       from crux.team_member m where m.team_id = t.id) as members
  from crux.team t`

export const selectTeam = (app: App, teamId: string) =>
  sql`${teamRows} where t.id = ${teamId}`.first<TeamRow>(app.database.pool, 'team by id')

export const selectTeamsOf = (app: App, userId: string) =>
  sql`${teamRows} where t.id in (select team_id from crux.team_member
    where user_id = ${userId}) order by t.name`.rows<TeamRow>(app.database.pool, 'teams of user')

/** Every start locks its version: a start that is in progress is visible after this, and no other one begins. */
export async function lockVersionsOfTeam(queries: Queries, teamId: string): Promise<void> {
  await sql`select from crux.project where team_id = ${teamId} order by id for update`.execute(queries)
  await sql`select from crux.version where project_id in (select id from crux.project where team_id = ${teamId})
    order by id for update`.execute(queries)
}

/** @returns the ids of the team's nodes */
export const lockNodesOfTeam = (queries: Queries, teamId: string) =>
  sql`select id from crux.node where team_id = ${teamId} for update`.column(queries)

/** Whether a deployment of the team is in progress. */
export const isDeploying = async (queries: Queries, teamId: string): Promise<boolean> =>
  (await sql`select from crux.deployment
    where team_id = ${teamId} and status = 'in-progress' limit 1`.execute(queries)) > 0

export const updateSecurityRow = (
  queries: Queries,
  teamId: string,
  security: { secondFactorRequired: boolean; allowedDomains: readonly string[] },
  by: string,
) =>
  sql`update crux.team set second_factor_required = ${security.secondFactorRequired},
    allowed_domains = ${security.allowedDomains}, updated_at = now(), updated_by = ${by}
    where id = ${teamId}`.execute(queries)

export const allowedDomains = async (queries: Queries, teamId: string): Promise<string[]> =>
  (await sql`select allowed_domains from crux.team where id = ${teamId}`.value<string[]>(queries)) ?? []

/** Rows that foreign keys protect are deleted first; the rest is deleted with the team. */
export async function deleteTeamRows(queries: Queries, teamId: string): Promise<void> {
  await sql`delete from crux.package where team_id = ${teamId}`.execute(queries)
  await sql`delete from crux.deployment where team_id = ${teamId}`.execute(queries)
  await sql`delete from crux.project where team_id = ${teamId}`.execute(queries)
  await sql`delete from crux.team where id = ${teamId}`.execute(queries)
  // Its own triggers have added differences for the deleted deployments, which nothing reads any more.
  await sql`delete from crux.deployment_count where team_id = ${teamId}`.execute(queries)
}

/** The data that the console's layout requests on every load, without counters. */
export const selectTeamNames = (app: App, userId: string) =>
  sql`select t.id, t.name, t.slug, m.role from crux.team_member m join crux.team t on t.id = m.team_id
    where m.user_id = ${userId} order by t.name`.rows<{ id: string; name: string; slug: string; role: TeamRole }>(
    app.database.pool,
    'team names of user',
  )

type NewTeam = { name: string; slug: string; ownerId: string }

/** Inserts the team, its owner and its first registry. */
export async function insertTeam(queries: Queries, { name, slug, ownerId }: NewTeam): Promise<string> {
  const id = await sql`insert into crux.team (name, slug, created_by, updated_by)
    values (${name}, ${slug}, ${ownerId}, ${ownerId}) returning id`.id(queries)
  await sql`insert into crux.team_member (team_id, user_id, role) values (${id}, ${ownerId}, 'owner')`.execute(queries)
  await sql`insert into crux.registry (team_id, name, description, type, url, image_name_prefix, public, created_by,
      updated_by)
    values (${id}, 'Docker Hub Library', 'Official images of Docker Hub', 'hub', 'hub.docker.com', 'library', true,
      ${ownerId}, ${ownerId})`.execute(queries)
  return id
}

export const updateTeam = (queries: Queries, id: string, values: { name: string; slug: string; updatedBy: string }) =>
  sql`update crux.team set name = ${values.name}, slug = ${values.slug}, updated_at = now(),
    updated_by = ${values.updatedBy} where id = ${id}`.execute(queries)
