import type { TeamRole } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

export async function selectRole(queries: Queries, teamId: string, userId: string): Promise<TeamRole | undefined> {
  const { rows } = await queries.query<{ role: TeamRole }>(
    'select role from crux.team_member where team_id = $1 and user_id = $2',
    [teamId, userId],
  )
  return rows[0]?.role
}

export async function countOwners(queries: Queries, teamId: string): Promise<number> {
  const { rows } = await queries.query<{ count: number }>(
    `select count(*)::int as count from crux.team_member where team_id = $1 and role = 'owner'`,
    [teamId],
  )
  return rows[0]?.count ?? 0
}

export async function updateRole(queries: Queries, teamId: string, userId: string, role: TeamRole): Promise<void> {
  await queries.query('update crux.team_member set role = $3 where team_id = $1 and user_id = $2', [
    teamId,
    userId,
    role,
  ])
}

/** A user who joins by invitation gets the role `user`. An existing member stays unchanged. */
export async function insertMember(queries: Queries, teamId: string, userId: string): Promise<void> {
  await queries.query(
    `insert into crux.team_member (team_id, user_id, role) values ($1, $2, 'user') on conflict do nothing`,
    [teamId, userId],
  )
}

export async function deleteMember(queries: Queries, teamId: string, userId: string): Promise<void> {
  await queries.query('delete from crux.team_member where team_id = $1 and user_id = $2', [teamId, userId])
}
