import { UndeliverableError } from '@crux/service-kit/mail'
import type { App } from '../context.ts'
import type { SecretLocation } from '../crypto/index.ts'
import type { Queries } from '../db/queries.ts'
import { inviteToAccountMail, inviteToTeamMail } from '../mails/index.ts'
import { findInvitation, selectNames, setMailProblem } from './invitation-store.ts'

export const invitationMailJob = 'invitation-mail'

/** `secret` is encrypted, because others may read the table of the queue. */
export type InvitationMailJob = { teamId: string; userId: string; secretHash: string; secret: string }

/** A user has at most one pending invitation to a team. */
export const invitationSecret = ({ teamId, userId }: Pick<InvitationMailJob, 'teamId' | 'userId'>): SecretLocation => ({
  column: 'job.invitation_mail',
  row: `${teamId} ${userId}`,
})

/** How long the code in the mail is valid; after that the link requests a new one. */
const codeHours = 12

/** Queues the mail in the transaction that stores the invitation. The job contains the link's secret encrypted. */
export const sendInvitation = (app: App, queries: Queries, { teamId, userId, secretHash, secret }: InvitationMailJob) =>
  app.jobs.send(
    invitationMailJob,
    { teamId, userId, secretHash, secret: app.cipher.encrypt(secret, invitationSecret({ teamId, userId })) },
    { within: queries },
  )

/**
 * Sends the queued mails, and tries again while the mail server or the identity service is unavailable. Call before the
 * jobs start.
 */
export function handleInvitationMails(app: App): void {
  app.jobs.handle<InvitationMailJob>(invitationMailJob, { retriesMax: 12, retryDelayS: 2 }, (data) => send(app, data))
}

async function send(app: App, { teamId, userId, secretHash, secret }: InvitationMailJob): Promise<void> {
  const row = await findInvitation(app.database.pool, teamId, { userId })
  // The invitation was accepted, revoked, or replaced by a newer one, which has its own mail.
  if (!row?.live || row.secretHash !== secretHash || !app.mail) return
  const { teamName, inviterId } = await selectNames(app.database.pool, { teamId, userId })
  const inviter = (await app.identity.people([inviterId])).get(inviterId)?.name
  const about = { recipient: row.email, teamName, inviter }
  const known = await app.accounts.hasSignedIn(userId)
  const mail = known
    ? inviteToTeamMail({ ...about, link: new URL(`/teams/${teamId}/invitation`, app.config.url).href })
    : inviteToAccountMail({
        ...about,
        link: await accountLink(app, row, app.cipher.decrypt(secret, invitationSecret({ teamId, userId }))),
      })
  try {
    await app.mail.send(mail)
  } catch (err) {
    if (!(err instanceof UndeliverableError)) throw err
    app.log.warn({ err, teamId, userId }, 'the mail of an invitation was permanently refused')
    await setMailProblem(app.database.pool, row, err.answer)
  }
}

async function accountLink(app: App, { teamId, userId }: { teamId: string; userId: string }, invitation: string) {
  const { flow, code } = await app.accounts.issueCode(userId, codeHours)
  const link = new URL('/auth/create-account', app.config.url)
  for (const [name, value] of Object.entries({ team: teamId, flow, code, invitation }))
    link.searchParams.set(name, value)
  return link.href
}
