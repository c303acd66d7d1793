export type { CapturedMail } from './captured-mail.ts'
export { captureMail, listCapturedMails, watchCapturedMails } from './captured-mail.ts'
export type { MailTransport, OutgoingMail } from './transport.ts'
export { createMailTransport, UndeliverableError } from './transport.ts'
