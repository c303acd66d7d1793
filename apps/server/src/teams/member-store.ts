import type { TeamRole } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

export const selectRole = (queries: Queries, teamId: string, userId: string) =>
  sql`select role from crux.team_member
    where team_id = ${teamId} and user_id = ${userId}`.value<TeamRole>(queries)

export const countOwners = async (queries: Queries, teamId: string): Promise<number> =>
  (await sql`select count(*)::int as count from crux.team_member
    where team_id = ${teamId} and role = 'owner'`.value<number>(queries)) ?? 0

export const updateRole = (queries: Queries, teamId: string, userId: string, role: TeamRole) =>
  sql`update crux.team_member set role = ${role} where team_id = ${teamId} and user_id = ${userId}`.execute(queries)

/** A user who joins by invitation gets the role `user`. An existing member stays unchanged. */
export const insertMember = (queries: Queries, teamId: string, userId: string) =>
  sql`insert into crux.team_member (team_id, user_id, role) values (${teamId}, ${userId}, 'user')
    on conflict do nothing`.execute(queries)

export const deleteMember = (queries: Queries, teamId: string, userId: string) =>
  sql`delete from crux.team_member where team_id = ${teamId} and user_id = ${userId}`.execute(queries)

/** Locked until the end, as in all changes of members: of two owners who leave at once, one stays. */
export const lockTeamsOf = (queries: Queries, userId: string) =>
  sql`select id, name from crux.team where id in (select team_id from crux.team_member where user_id = ${userId})
    order by id for update`.rows<{ id: string; name: string }>(queries)

/** The names of the teams that the user alone owns. */
export const selectSolelyOwned = (queries: Queries, userId: string) =>
  sql`select t.name from crux.team t
      join crux.team_member m on m.team_id = t.id and m.user_id = ${userId} and m.role = 'owner'
    where not exists (
      select from crux.team_member o where o.team_id = t.id and o.role = 'owner' and o.user_id <> ${userId})
    order by t.name`.column(queries)

/** Deletes the memberships and invitations of a user. */
export async function deleteUser(queries: Queries, userId: string): Promise<void> {
  await sql`delete from crux.team_member where user_id = ${userId}`.execute(queries)
  await sql`delete from crux.invitation where user_id = ${userId}`.execute(queries)
}
