import type { ResponseOf } from '@crux/contract'

export type Team = ResponseOf<'teams.get'>
export type Member = Team['users'][number]

/** Invited users are not owners yet. */
export const listOwners = (team: Team): Member[] =>
  team.users.filter((user) => user.role === 'owner' && user.status === 'verified')

/** The counts of members and of invited users: an expired or declined invitation counts for neither. */
export const countMembers = ({ users }: Pick<Team, 'users'>): { members: number; invited: number } => ({
  members: users.filter(({ status }) => status === 'verified').length,
  invited: users.filter(({ status }) => status === 'pending').length,
})

/** Invited, and nothing is known of it yet. */
export const awaitsAnswer = (member: Member): boolean => member.status === 'pending' && !member.mailProblem

/** Whether the team would have no owner without this one. */
export function lastOwner(team: Team, member: Member): boolean {
  const owners = listOwners(team)
  return owners.length === 1 && owners[0]?.id === member.id
}
