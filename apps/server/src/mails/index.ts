export { inviteToAccountMail, inviteToTeamMail } from './invitation-mails.ts'
export { notificationMail } from './notification-mails.ts'
export { mailRoutes } from './routes.ts'
export { tokenMail } from './token-mails.ts'
