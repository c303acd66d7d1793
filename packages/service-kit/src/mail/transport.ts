import { createTransport } from 'nodemailer'
import { captureMail } from './captured-mail.ts'

/** A mail as the transport sends it. */
export interface OutgoingMail {
  recipient: string
  subject: string
  text: string
  html: string
}

export interface MailTransport {
  /** @throws UndeliverableError when a retry is useless; other errors may be temporary */
  send(mail: OutgoingMail): Promise<void>
  close(): void
}

/** The mail server reported that this mail can never be delivered, so a retry is useless. */
export class UndeliverableError extends Error {
  override name = 'UndeliverableError'
  /** The answer of the server on one line: `550 5.1.1 No such user here`. It is untrusted text. */
  readonly answer: string

  constructor(answer: string, options?: ErrorOptions) {
    super(`the mail server refuses the recipient: ${answer}`, options)
    this.answer = answer
  }
}

const answerLengthMax = 300

/**
 * Creates the transport of this installation: through the server in `smtpUri`, otherwise into the directory `keepIn`.
 *
 * @param options.from the sender; the name may be any text
 * @returns undefined when there is neither, so no mail can be sent
 */
export function createMailTransport(options: {
  smtpUri: string | undefined
  from: { name: string; address: string }
  keepIn?: string | undefined
}): MailTransport | undefined {
  const { smtpUri, from, keepIn } = options
  if (smtpUri !== undefined) return smtpTransport(smtpUri, from)
  if (keepIn === undefined) return undefined
  return {
    async send({ recipient, subject, text, html }) {
      captureMail(keepIn, { to: recipient, subject, text, html })
    },
    close: () => undefined,
  }
}

/**
 * Sends by SMTP. Without `smtps:` it requires STARTTLS, unless the address contains `?disable_starttls=true`; `?skip_ssl_verify=true` accepts any
 * certificate.
 */
function smtpTransport(smtpUri: string, from: { name: string; address: string }): MailTransport {
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
  return {
    async send({ recipient, subject, text, html }) {
      try {
        // An address object is never parsed as a list, so there is always one recipient.
        await transport.sendMail({ from, to: { name: '', address: recipient }, subject, text, html })
      } catch (cause) {
        if (!(cause instanceof Error)) throw cause
        const { code, responseCode = 0, response }: MailError = cause
        if (code === 'EENVELOPE' && responseCode >= 500)
          throw new UndeliverableError(onOneLine(response || String(responseCode)), { cause })
        throw cause
      }
    },
    close: () => transport.close(),
  }
}

/** What nodemailer adds to its errors. */
type MailError = Error & { code?: string; responseCode?: number; response?: string }

const onOneLine = (text: string) =>
  text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, answerLengthMax)
