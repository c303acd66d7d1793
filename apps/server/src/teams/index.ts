export { handleInvitationMails } from './invitation-mail.ts'
export { type InvitationMailJob, invitationMailJob, invitationSecret } from './invitation-secret.ts'
export { acceptInvitation, renewCode, requireLiveInvitation } from './invitations.ts'
export { teamRoutes } from './routes.ts'
