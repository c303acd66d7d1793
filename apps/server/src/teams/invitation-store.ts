import type { Queries } from '../db/transaction.ts'

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

const columns = `team_id, user_id, email, name, mailed_at, secret_hash,
  case when status = 'pending' and expires_at <= now() then 'expired' else status end as status,
  status = 'pending' and expires_at > now() as live`

/** Waits for transactions that change the members of this team, so that the team keeps an owner. */
export async function lockTeam(queries: Queries, teamId: string): Promise<void> {
  await queries.query('select 1 from crux.team where id = $1 for update', [teamId])
}

export async function lockInvitation(
  queries: Queries,
  teamId: string,
  userId: string,
): Promise<InvitationRow | undefined> {
  const { rows } = await queries.query<InvitationRow>(
    `select ${columns} from crux.invitation where team_id = $1 and user_id = $2 for update`,
    [teamId, userId],
  )
  return rows[0]
}

export async function findInvitation(
  queries: Queries,
  teamId: string,
  by: { userId: string } | { secretHash: string },
): Promise<InvitationRow | undefined> {
  const [column, value] = 'userId' in by ? ['user_id', by.userId] : ['secret_hash', by.secretHash]
  const { rows } = await queries.query<InvitationRow>(
    `select ${columns} from crux.invitation where team_id = $1 and ${column} = $2`,
    [teamId, value],
  )
  return rows[0]
}

/** The teams whose invitation the person has not answered. */
export async function selectInvitationsOf(queries: Queries, userId: string) {
  const { rows } = await queries.query<{ id: string; name: string; slug: string }>({
    name: 'invitations of user',
    text: `select t.id, t.name, t.slug from crux.invitation i join crux.team t on t.id = i.team_id
      where i.user_id = $1 and i.status = 'pending' and i.expires_at > now() order by i.created_at`,
    values: [userId],
  })
  return rows
}

type NewInvitation = {
  teamId: string
  userId: string
  email: string
  name: string
  invitedBy: string
  secretHash: string
}

/**
 * Replaces a declined or expired invitation of the same person or address.
 *
 * @returns false if one is pending
 */
export async function insertInvitation(queries: Queries, row: NewInvitation): Promise<boolean> {
  await queries.query(
    `delete from crux.invitation where team_id = $1 and (user_id = $2 or lower(email) = lower($3))
      and (status <> 'pending' or expires_at <= now())`,
    [row.teamId, row.userId, row.email],
  )
  const { rowCount } = await queries.query(
    `insert into crux.invitation (team_id, user_id, email, name, invited_by, secret_hash, expires_at)
      values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7)) on conflict do nothing`,
    [row.teamId, row.userId, row.email, row.name, row.invitedBy, row.secretHash, invitationDays],
  )
  return rowCount === 1
}

/** Restarts the week of the invitation with a new link. */
export async function renewInvitation(
  queries: Queries,
  { teamId, userId, secretHash, invitedBy }: Omit<NewInvitation, 'email' | 'name'>,
): Promise<void> {
  await queries.query(
    `update crux.invitation set status = 'pending', expires_at = now() + make_interval(days => $5), mailed_at = now(),
      mail_problem = null, secret_hash = $3, invited_by = $4 where team_id = $1 and user_id = $2`,
    [teamId, userId, secretHash, invitedBy, invitationDays],
  )
}

export async function setInvitationStatus(
  queries: Queries,
  { teamId, userId }: Pick<InvitationRow, 'teamId' | 'userId'>,
  status: 'expired' | 'declined',
): Promise<void> {
  await queries.query('update crux.invitation set status = $3 where team_id = $1 and user_id = $2', [
    teamId,
    userId,
    status,
  ])
}

/** Records the problem of the mail with this link; a newer mail has its own status. */
export async function setMailProblem(
  queries: Queries,
  { teamId, userId, secretHash }: Pick<InvitationRow, 'teamId' | 'userId' | 'secretHash'>,
  problem: string,
): Promise<void> {
  await queries.query(
    'update crux.invitation set mail_problem = $4 where team_id = $1 and user_id = $2 and secret_hash = $3',
    [teamId, userId, secretHash, problem],
  )
}

/** @returns whether one existed */
export async function deleteInvitation(queries: Queries, teamId: string, userId: string): Promise<boolean> {
  const { rowCount } = await queries.query('delete from crux.invitation where team_id = $1 and user_id = $2', [
    teamId,
    userId,
  ])
  return rowCount === 1
}
