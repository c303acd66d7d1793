export type { KeptMail } from './kept-mails.ts'
export { keepMail, listKeptMails, watchKeptMails } from './kept-mails.ts'
export type { MailTransport, OutgoingMail } from './transport.ts'
export { createMailTransport, UndeliverableError } from './transport.ts'
