import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type Body, CruxError, type ResponseInput } from '@crux/contract'
import type { Actor, Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { invitationAnswered, personInvited } from './events.ts'
import { countInvitation } from './invitation-limits.ts'
import { invitationDelivery, invitationLink } from './invitation-link.ts'
import { sendInvitation } from './invitation-mail.ts'
import {
  deleteInvitation,
  findInvitation,
  type InvitationRow,
  insertInvitation,
  lockInvitation,
  lockTeam,
  renewInvitation,
  setInvitationStatus,
} from './invitation-store.ts'
import { insertMember, selectRole } from './member-store.ts'
import { refuseOtherDomains } from './security.ts'
import { allowedDomains } from './store.ts'

/** The time that must pass before the next mail to the same user. */
const resendMs = 30_000
/** People do not type a code of a renewed link: the page submits it at once. */
const renewedCodeHours = 1

/**
 * Invites an address; an unknown one gets an account that only the invitation's mail opens. Steps may be repeated after
 * a failure: an account without an invitation has no rights, and row and mail job are one transaction.
 *
 * @throws CruxError alreadyExists for members and for users with a pending invitation
 */
export async function invite(
  app: App,
  { team, actor }: Caller,
  body: Body<'teams.invite'>,
): Promise<ResponseInput<'teams.invite'>> {
  const { email, firstName, lastName } = body
  requireMail(app)
  refuseOtherDomains(await allowedDomains(app.database.pool, team.id), { email, verified: true })
  await countInvitation(app, 'inviter', actor.id)
  await countInvitation(app, 'recipient', email)
  const account = (await app.accounts.findByEmail(email)) ?? (await app.accounts.create(body))
  const name = [firstName, lastName].filter(Boolean).join(' ')
  const link = await inTransaction(app.database, async (queries) => {
    await lockTeam(queries, team.id)
    if (await selectRole(queries, team.id, account.id)) throw alreadyMember(email, 'is in the team already')
    const { secret, secretHash } = makeSecret()
    const row = { teamId: team.id, userId: account.id, email, name, invitedBy: actor.id, secretHash }
    if (!(await insertInvitation(queries, row))) throw alreadyMember(email, 'has been invited already')
    await sendInvitation(app, queries, { ...row, secret })
    await recordTeamEvent(app, queries, {
      type: 'user-invited',
      // Invited again after they declined or left, they are the subject of another event.
      key: `user-invited ${team.id} ${account.id} ${randomUUID()}`,
      teamId: team.id,
      at: new Date().toISOString(),
      email,
      teamName: team.name,
      by: actor.name,
    })
    return invitationLink(app, queries, { ...row, secret })
  })
  personInvited(app, team, actor, account.id)
  // The response has the name that the inviter wrote: the account's own name stays hidden from inviters until the user
  // joins.
  return { id: account.id, name, email, role: 'user', status: 'pending', ...(link && { invitationLink: link }) }
}

/**
 * @returns the link to pass on, null where mail is sent
 * @throws CruxError preconditionFailed after a refusal, tooManyRequests within 30 s
 */
export async function reinvite(app: App, { team, actor }: Caller, userId: string): Promise<string | null> {
  const invited = await findInvitation(app.database.pool, team.id, { userId })
  if (!invited) throw noInvitation(userId)
  requireMail(app)
  await countInvitation(app, 'inviter', actor.id)
  await countInvitation(app, 'recipient', invited.email)
  const link = await inTransaction(app.database, async (queries) => {
    const row = await lockInvitation(queries, team.id, userId)
    if (!row) throw noInvitation(userId)
    if (row.status === 'declined')
      throw new CruxError('preconditionFailed', {
        property: 'userId',
        value: userId,
        description: 'This invitation was declined. Invite the address again.',
      })
    // A link that the inviter passes on sends no mail, so that it needs no limit.
    const waitMs = invitationDelivery(app.config) === 'link' ? 0 : row.mailedAt.getTime() + resendMs - Date.now()
    if (waitMs > 0)
      throw new CruxError('tooManyRequests', {
        property: 'userId',
        retryAfterS: waitMs / 1_000,
        description: 'A mail is on its way. Try again in half a minute.',
      })
    refuseOtherDomains(await allowedDomains(queries, team.id), { email: row.email, verified: true })
    const { secret, secretHash } = makeSecret()
    await renewInvitation(queries, { teamId: team.id, userId, secretHash, invitedBy: actor.id })
    await sendInvitation(app, queries, { teamId: team.id, userId, secret, secretHash })
    return invitationLink(app, queries, { teamId: team.id, userId, secret })
  })
  personInvited(app, team, actor, userId)
  return link
}

/**
 * Joins as a user. An invitation belongs to one account; sessions of other accounts cannot use it.
 *
 * @param options.cameByMail the session was opened by the code of the invitation's mail, which proves the address
 * @throws CruxError preconditionFailed with `teamId` when it expired or was declined, with `email` for users who have
 *   not proven the address
 */
export async function acceptInvitation(
  app: App,
  actor: Actor,
  teamId: string,
  options: { cameByMail?: boolean } = {},
): Promise<void> {
  const account = await app.accounts.find(actor.id)
  const refusal = await inTransaction(app.database, async (queries) => {
    const row = await requireInvitation(queries, actor, teamId)
    if (!row.live) {
      if (row.status === 'expired') await setInvitationStatus(queries, row, 'expired')
      return invitationEnded(row)
    }
    const problem =
      (options.cameByMail ? undefined : addressProblem(row, account)) ??
      domainProblem(await allowedDomains(queries, teamId), account)
    if (problem) return problem
    await insertMember(queries, teamId, actor.id)
    await deleteInvitation(queries, teamId, actor.id)
    return undefined
  })
  await invitationAnswered(
    app,
    { id: teamId },
    actor,
    'accept',
    refusal && { error: refusal.code, property: refusal.property },
  )
  if (refusal) throw refusal
}

/** @throws CruxError as `acceptInvitation` does, before any change that a refusal would have to undo */
export async function requireLiveInvitation(app: App, userId: string, teamId: string): Promise<void> {
  const row = await findInvitation(app.database.pool, teamId, { userId })
  if (!row) throw notInvited()
  if (!row.live) throw invitationEnded(row)
}

/** The row is kept, so that the team sees the answer. */
export async function declineInvitation(app: App, actor: Actor, teamId: string): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    const row = await requireInvitation(queries, actor, teamId)
    await setInvitationStatus(queries, row, 'declined')
  })
  await invitationAnswered(app, { id: teamId }, actor, 'decline')
}

/**
 * Issues a new code to users who have the link of a pending invitation. Once the user has signed in, the link no
 * longer works: it would be a second password in a mailbox.
 *
 * @throws CruxError preconditionFailed with `invitation`; `value` names the next step: `signIn` or `expired`
 */
export async function renewCode(app: App, teamId: string, secret: string): Promise<{ flow: string; code: string }> {
  const row = await findInvitation(app.database.pool, teamId, { secretHash: toHash(secret) })
  if (!row?.live)
    throw new CruxError('preconditionFailed', {
      property: 'invitation',
      value: 'expired',
      description: 'This invitation has expired or was used. Ask for a new one.',
    })
  await countInvitation(app, 'link', row.secretHash)
  if (await app.accounts.hasSignedIn(row.userId))
    throw new CruxError('preconditionFailed', {
      property: 'invitation',
      value: 'signIn',
      description: 'You have an account already: sign in to accept the invitation.',
    })
  return app.accounts.issueCode(row.userId, renewedCodeHours)
}

async function requireInvitation(queries: Queries, actor: Actor, teamId: string): Promise<InvitationRow> {
  const row = await lockInvitation(queries, teamId, actor.id)
  if (!row) throw notInvited()
  return row
}

const notInvited = () =>
  new CruxError('notFound', { property: 'invitation', description: 'There is no invitation for you here.' })

const invitationEnded = (row: InvitationRow) =>
  new CruxError('preconditionFailed', {
    property: 'teamId',
    value: row.status,
    description:
      row.status === 'declined'
        ? 'You declined this invitation. Ask for a new one.'
        : 'This invitation has expired. Ask for a new one.',
  })

/** Anyone can sign up with any address, so that the invited person is the one who has proven the address. */
function addressProblem({ email }: InvitationRow, account: { email: string; verified: boolean } | undefined) {
  const isSame = account?.email.toLowerCase() === email.toLowerCase()
  if (isSame && account?.verified) return undefined
  return new CruxError('preconditionFailed', {
    property: 'email',
    value: account?.email,
    description: isSame
      ? 'Verify your e-mail address first: the invitation is for its owner.'
      : `This invitation was sent to ${email}, which is not the address of your account any more. Ask for a new one.`,
  })
}

function domainProblem(domains: string[], account: { email: string; verified: boolean } | undefined) {
  try {
    refuseOtherDomains(domains, account ?? { email: '', verified: false })
    return undefined
  } catch (error) {
    if (error instanceof CruxError) return error
    throw error
  }
}

/** Without a way to send mail the invited person would not learn of the invitation. */
function requireMail(app: App) {
  if (!app.mail)
    throw new CruxError('preconditionFailed', {
      property: 'email',
      description: 'This installation cannot send mail: SMTP_URI is not set.',
    })
}

function makeSecret() {
  const secret = randomBytes(32).toString('base64url')
  return { secret, secretHash: toHash(secret) }
}

const toHash = (secret: string) => createHash('sha256').update(secret).digest('base64url')

const noInvitation = (userId: string) =>
  new CruxError('notFound', { property: 'userId', value: userId, description: 'There is no such invitation.' })

const alreadyMember = (email: string, reason: string) =>
  new CruxError('alreadyExists', { property: 'email', value: email, description: `${email} ${reason}.` })
