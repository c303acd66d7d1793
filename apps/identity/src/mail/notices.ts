import type { SecurityEvent, SignInEvent } from '../db/schema.ts'
import { type Mail, makeMail } from './mail.ts'

/** The events that a user is notified of by mail: changes of credentials, and sign-ins with a new program. */
export type Notice = Exclude<SecurityEvent, SignInEvent> | { event: 'new-device'; userAgent: string }

const noticeLifespanMs = 3 * 24 * 3600_000

/** The notification of a change that may have been made by somebody else. It contains no link, because such mails are often forged. */
export function noticeMail(
  recipient: string,
  notice: Notice,
  at: { consoleUrl: string; clientAddress: string; time: Date },
): Mail {
  const { subject, summary } = renderContent(notice)
  const from = at.clientAddress === '' ? '' : `, from the network address ${at.clientAddress}`
  return makeMail({
    recipient,
    subject,
    lead: [summary, `It happened on ${at.time.toISOString().replace('T', ' at ').slice(0, 19)} UTC${from}.`],
    close: [
      'If this was you, there is nothing to do.',
      `If it was not, open Crux as you always do, recover your account with this e-mail address, change your password and sign out everywhere else. Recovering the account also revokes its API tokens.`,
    ],
    usefulUntil: new Date(at.time.getTime() + noticeLifespanMs),
  })
}

function renderContent(notice: Notice): { subject: string; summary: string } {
  switch (notice.event) {
    case 'password-changed':
      return { subject: 'Your password was changed', summary: 'The password of your account with Crux was changed.' }
    case 'address-changed':
      return {
        subject: 'Your e-mail address was changed',
        summary: `The e-mail address of your account with Crux was changed from ${notice.from} to ${notice.to}.`,
      }
    case 'factor-added':
      return {
        subject: 'A way to prove who you are was added',
        summary: `This was added to your account with Crux: ${notice.factor}.`,
      }
    case 'factor-removed':
      return {
        subject: 'A way to prove who you are was removed',
        summary: `This was removed from your account with Crux: ${notice.factor}.`,
      }
    case 'token-created':
      return {
        subject: 'An API token was created',
        summary: `The API token "${notice.name}" was created for your account with Crux. It can do what you can, within its scope.`,
      }
    case 'token-revoked':
      return {
        subject: 'An API token was revoked',
        summary: `The API token "${notice.name}" of your account with Crux was revoked and no longer works.`,
      }
    case 'tokens-revoked':
      return {
        subject: 'Your API tokens were revoked',
        summary:
          notice.count === 1
            ? 'The one API token of your account with Crux was revoked and no longer works.'
            : `All ${notice.count} API tokens of your account with Crux were revoked and no longer work.`,
      }
    case 'new-device':
      return {
        subject: 'New sign-in to your account',
        summary: `Someone signed in to your account with Crux with a program that you have not used before: ${notice.userAgent || 'it did not say which'}.`,
      }
  }
}
