import { type Queries, raw, sql } from '../db/queries.ts'

/** How long an invitation may be accepted. */
export const invitationDays = 7

export type InvitationRow = {
  teamId: string
  userId: string
  email: string
  name: string
  status: 'pending' | 'expired' | 'declined'
  mailedAt: Date
  secretHash: string
  /** Pending and not expired. */
  live: boolean
}

const columns = sql`team_id, user_id, email, name, mailed_at, secret_hash,
  case when status = 'pending' and expires_at <= now() then 'expired' else status end as status,
  status = 'pending' and expires_at > now() as live`

/** Waits for transactions that change the members of this team, so that the team keeps an owner. */
export const lockTeam = (queries: Queries, teamId: string) =>
  sql`select 1 from crux.team where id = ${teamId} for update`.execute(queries)

export const lockInvitation = (queries: Queries, teamId: string, userId: string) =>
  sql`select ${columns} from crux.invitation
    where team_id = ${teamId} and user_id = ${userId} for update`.first<InvitationRow>(queries)

export async function findInvitation(
  queries: Queries,
  teamId: string,
  by: { userId: string } | { secretHash: string },
): Promise<InvitationRow | undefined> {
  const [column, value] = 'userId' in by ? ['user_id', by.userId] : ['secret_hash', by.secretHash]
  return sql`select ${columns} from crux.invitation
    where team_id = ${teamId} and ${raw(column)} = ${value}`.first<InvitationRow>(queries)
}

/** The teams whose invitation the user has not answered. */
export const selectInvitationsOf = (queries: Queries, userId: string) =>
  sql`select t.id, t.name, t.slug from crux.invitation i join crux.team t on t.id = i.team_id
    where i.user_id = ${userId} and i.status = 'pending'
    and i.expires_at > now() order by i.created_at`.rows<{ id: string; name: string; slug: string }>(
    queries,
    'invitations of user',
  )

type NewInvitation = {
  teamId: string
  userId: string
  email: string
  name: string
  invitedBy: string
  secretHash: string
}

/**
 * Replaces a declined or expired invitation of the same user or address.
 *
 * @returns false if one is pending
 */
export async function insertInvitation(queries: Queries, row: NewInvitation): Promise<boolean> {
  await sql`delete from crux.invitation where team_id = ${row.teamId} and (user_id = ${row.userId}
    or lower(email) = lower(${row.email}))
    and (status <> 'pending' or expires_at <= now())`.execute(queries)
  const inserted =
    await sql`insert into crux.invitation (team_id, user_id, email, name, invited_by, secret_hash, expires_at)
      values (${row.teamId}, ${row.userId}, ${row.email}, ${row.name}, ${row.invitedBy}, ${row.secretHash},
      now() + make_interval(days => ${invitationDays})) on conflict do nothing`.execute(queries)
  return inserted === 1
}

/** Restarts the week of the invitation with a new link. */
export const renewInvitation = (
  queries: Queries,
  { teamId, userId, secretHash, invitedBy }: Omit<NewInvitation, 'email' | 'name'>,
) =>
  sql`update crux.invitation set status = 'pending', expires_at = now() + make_interval(days => ${invitationDays}),
    mailed_at = now(),
    mail_problem = null, secret_hash = ${secretHash}, invited_by = ${invitedBy}
    where team_id = ${teamId} and user_id = ${userId}`.execute(queries)

export const setInvitationStatus = (
  queries: Queries,
  { teamId, userId }: Pick<InvitationRow, 'teamId' | 'userId'>,
  status: 'expired' | 'declined',
) =>
  sql`update crux.invitation set status = ${status}
    where team_id = ${teamId} and user_id = ${userId}`.execute(queries)

/** Records the problem of the mail with this link; a newer mail has its own status. */
export const setMailProblem = (
  queries: Queries,
  { teamId, userId, secretHash }: Pick<InvitationRow, 'teamId' | 'userId' | 'secretHash'>,
  problem: string,
) =>
  sql`update crux.invitation set mail_problem = ${problem}
    where team_id = ${teamId} and user_id = ${userId} and secret_hash = ${secretHash}`.execute(queries)

/** @returns whether one existed */
export const deleteInvitation = async (queries: Queries, teamId: string, userId: string): Promise<boolean> =>
  (await sql`delete from crux.invitation
    where team_id = ${teamId} and user_id = ${userId}`.execute(queries)) === 1

/** Whether another team has invited the user. */
export const hasOtherInvitation = async (
  queries: Queries,
  { teamId, userId }: Pick<InvitationRow, 'teamId' | 'userId'>,
): Promise<boolean> =>
  (await sql`select from crux.invitation
    where user_id = ${userId} and team_id <> ${teamId} limit 1`.execute(queries)) > 0

/** The name of the team of an invitation, and the id of the inviter. */
export async function selectNames(queries: Queries, { teamId, userId }: Pick<InvitationRow, 'teamId' | 'userId'>) {
  const row = await sql`select t.name as team_name, i.invited_by as inviter_id from crux.team t
    join crux.invitation i on i.team_id = t.id and i.user_id = ${userId}
    where t.id = ${teamId}`.first<{ teamName: string; inviterId: string }>(queries)
  return row ?? { teamName: 'a team', inviterId: '' }
}
