import { isLoopbackHost, isLoopbackUrl } from '@crux/service-kit'
import type { System } from './system.ts'

const nextLine = '\n            '

/** Describes how mail is sent, for the output of a start, and the effect on the verification of e-mail addresses. */
export function describeMail(
  smtpUri: string | undefined,
  { url, host, mails }: Pick<System, 'url' | 'host' | 'mails'>,
): string {
  if (smtpUri) return URL.canParse(smtpUri) ? `through ${new URL(smtpUri).host}` : 'through SMTP_URI'
  if (!mails) return 'nowhere'
  if (!isLoopbackHost(host) || !isLoopbackUrl(url))
    return [
      `SMTP_URI is not set: mails are kept in ${mails.directory}`,
      'Others can reach this Crux, so e-mail addresses stay unverified:',
      'nobody accepts an invitation or joins by an allowed domain.',
      'Set SMTP_URI, for example smtp://user:password@mail.example.com:587',
    ].join(nextLine)
  const kept = `SMTP_URI is not set: every address counts as verified, mails are kept in ${mails.directory}`
  return mails.token ? `${kept}${nextLine}and shown on ${url}/mails with the token ${mails.token}` : kept
}
