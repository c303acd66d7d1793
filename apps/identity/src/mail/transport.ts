import { createTransport } from 'nodemailer'
import type { IdentityConfig } from '../config.ts'
import type { Mail } from './mail.ts'

export interface MailTransport {
  send(mail: Mail): Promise<void>
  close(): void
}

/** The mail server itself said that this mail can never be delivered: trying again is of no use. */
export class UndeliverableError extends Error {
  override name = 'UndeliverableError'
}

/**
 * Speaks SMTP with the server in `SMTP_URI`. Without `smtps:` it insists on STARTTLS, unless the address says
 * `?disable_starttls=true`; `?skip_ssl_verify=true` accepts any certificate.
 */
export function createMailTransport(config: IdentityConfig, smtpUri: string): MailTransport {
  const url = new URL(smtpUri)
  const secure = url.protocol === 'smtps:'
  const plain = url.searchParams.get('disable_starttls') === 'true'
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    ignoreTLS: !secure && plain,
    requireTLS: !secure && !plain,
    tls: { rejectUnauthorized: url.searchParams.get('skip_ssl_verify') !== 'true' },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  })
  const from = { name: config.FROM_NAME, address: config.FROM_EMAIL ?? `crux@${new URL(config.CRUX_URL).hostname}` }
  return {
    async send({ recipient, subject, text, html }) {
      try {
        // An address object is never parsed as a list: a recipient stays one recipient.
        await transport.sendMail({ from, to: { name: '', address: recipient }, subject, text, html })
      } catch (cause) {
        const { code, responseCode = 0 } = cause as { code?: string; responseCode?: number }
        if (code === 'EENVELOPE' && responseCode >= 500)
          throw new UndeliverableError('the mail server refuses the recipient', { cause })
        throw cause
      }
    },
    close: () => transport.close(),
  }
}
