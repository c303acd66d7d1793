import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { waitFor } from '@crux/test-kit'
import { SMTPServer } from 'smtp-server'

export type Mailbox = { uri: string; codeFor: (address: string) => Promise<string>; close: () => Promise<void> }

/** A real SMTP server; `codeFor` waits for a mail to this address and reads the code that stands alone on its line. */
export async function openMailbox(): Promise<Mailbox> {
  const mails: { to: string[]; text: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      text(stream).then((body) => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: body })
        done()
      }, done)
    },
  })
  const listener = server.listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  return {
    uri: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}/?disable_starttls=true`,
    codeFor: (address) =>
      waitFor(`a mail with a code for ${address}`, async () => {
        const mail = mails.findLast(({ to }) => to.includes(address))
        return mail && /^(\d{6})\r?$/m.exec(mail.text)?.[1]
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
