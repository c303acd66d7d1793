export {
  handleInvitationMails,
  type InvitationMailJob,
  invitationMailJob,
  invitationSecret,
} from './invitation-mail.ts'
export { acceptInvitation, renewCode, requireLiveInvitation } from './invitations.ts'
export { teamRoutes } from './routes.ts'
