import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface MailServer {
  port: number
  mails: Email[]
  /** Waits for the next mail to an address that was not returned yet; with a subject, earlier mails with other subjects are skipped. */
  next(recipient: string, subject?: string): Promise<Email>
  /** Answers recipients with this SMTP code from now on; undefined accepts them again. */
  refuseWith(code: number | undefined): void
  close(): Promise<void>
}

/** A real SMTP server that stores its mails. */
export async function startMailServer(options: { port?: number; starttls?: boolean } = {}): Promise<MailServer> {
  const mails: Email[] = []
  const handedOut = new Set<Email>()
  let refusal: number | undefined
  let arrived = Promise.withResolvers<void>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.starttls ? [] : ['STARTTLS'],
    onRcptTo: (_address, _session, done) =>
      done(refusal === undefined ? null : Object.assign(new Error('not now'), { responseCode: refusal })),
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          mails.push(mail)
          arrived.resolve()
          arrived = Promise.withResolvers<void>()
          done()
        }, done)
      })
    },
  })
  const listener = server.listen(options.port ?? 0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    mails,
    async next(recipient, subject) {
      for (;;) {
        const found = mails.find(
          (mail) => !handedOut.has(mail) && mail.to?.some(({ address }) => address === recipient),
        )
        if (found) handedOut.add(found)
        else await arrived.promise
        if (found && (subject === undefined || found.subject === subject)) return found
      }
    },
    refuseWith(code) {
      refusal = code
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** The code of a mail, which is alone on a line of the text. */
export function getCode(mail: Email): string {
  return /^(\d{6})$/m.exec(mail.text ?? '')?.[1] ?? ''
}

export function getLink(mail: Email): string {
  return /^(https?:\S+)$/m.exec(mail.text ?? '')?.[1] ?? ''
}
