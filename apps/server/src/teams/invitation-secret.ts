import type { SecretLocation } from '../crypto/index.ts'

export const invitationMailJob = 'invitation-mail'
/** `secret` is encrypted, because others may read the table of the queue. */
export type InvitationMailJob = { teamId: string; userId: string; secretHash: string; secret: string }

/** A person has at most one pending invitation to a team. */
export const invitationSecret = ({ teamId, userId }: { teamId: string; userId: string }): SecretLocation => ({
  column: 'job.invitation_mail',
  row: `${teamId} ${userId}`,
})
