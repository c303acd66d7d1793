import { createTransport } from 'nodemailer'
import { captureMail } from './captured-mail.ts'

/** A mail as it leaves; what it says is up to who sends it. */
export interface OutgoingMail {
  recipient: string
  subject: string
  text: string
  html: string
}

export interface MailTransport {
  /** @throws UndeliverableError when trying again is of no use; anything else may pass */
  send(mail: OutgoingMail): Promise<void>
  close(): void
}

/** The mail server itself said that this mail can never be delivered: trying again is of no use. */
export class UndeliverableError extends Error {
  override name = 'UndeliverableError'
  /** What it said, on one line: `550 5.1.1 No such user here`. It is a stranger's text. */
  readonly answer: string

  constructor(answer: string, options?: ErrorOptions) {
    super(`the mail server refuses the recipient: ${answer}`, options)
    this.answer = answer
  }
}

const answerLengthMax = 300

/**
 * How mail leaves this installation: through the server in `smtpUri`, else into the folder `keepIn`.
 *
 * @param options.from the sender; the name may be any text
 * @returns undefined when there is neither: nothing can be sent
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
 * Speaks SMTP. Without `smtps:` it insists on STARTTLS, unless the address says `?disable_starttls=true`;
 * `?skip_ssl_verify=true` accepts any certificate.
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
        // An address object is never parsed as a list: a recipient stays one recipient.
        await transport.sendMail({ from, to: { name: '', address: recipient }, subject, text, html })
      } catch (cause) {
        const {
          code,
          responseCode = 0,
          response,
        } = cause as { code?: string; responseCode?: number; response?: string }
        if (code === 'EENVELOPE' && responseCode >= 500)
          throw new UndeliverableError(onOneLine(response || String(responseCode)), { cause })
        throw cause
      }
    },
    close: () => transport.close(),
  }
}

const onOneLine = (text: string) =>
  text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, answerLengthMax)
