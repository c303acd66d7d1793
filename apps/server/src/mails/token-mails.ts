import type { OutgoingMail } from '@crux/service-kit/mail'
import type { SecurityReport } from '../identity/index.ts'
import { onOneLine, toMail } from './mail-text.ts'

/** The mail about API tokens, for an identity service that has no security log and sends no such mail. */
export function tokenMail(recipient: string, what: SecurityReport['what']): OutgoingMail {
  const { subject, lead } = getText(what)
  const close =
    'If this was not you, recover your account with this e-mail address: that revokes all of its API tokens.'
  return toMail(recipient, subject, { lead, close })
}

function getText(what: SecurityReport['what']): { subject: string; lead: string } {
  switch (what.event) {
    case 'token-created':
      return {
        subject: 'An API token was created',
        lead: `The API token "${onOneLine(what.name)}" was created for your account with Crux.`,
      }
    case 'token-revoked':
      return {
        subject: 'An API token was revoked',
        lead: `The API token "${onOneLine(what.name)}" of your account with Crux was revoked.`,
      }
    case 'tokens-revoked':
      return {
        subject: 'Your API tokens were revoked',
        lead: `All API tokens of your account with Crux were revoked. There were ${what.count}.`,
      }
  }
}
