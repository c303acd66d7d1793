import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { waitFor } from '@crux/test-kit'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type Mailbox = {
  uri: string
  codeFor: (address: string) => Promise<string>
  /** The link of the newest mail to this address that leads to a path of the console. */
  linkFor: (address: string, path: string) => Promise<string>
  /** Deletes all received mails, so that the next code is a new one. */
  empty: () => void
  close: () => Promise<void>
}

/** A real SMTP server. `codeFor` waits for a mail to this address and reads the code that is alone on its line. */
export async function openMailbox(): Promise<Mailbox> {
  const mails: { to: string[]; text: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      buffer(stream)
        .then((raw) => PostalMime.parse(raw))
        .then((mail) => {
          mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: mail.text ?? '' })
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
    linkFor: (address, path) =>
      waitFor(`a mail to ${address} with a link to ${path}`, async () =>
        mails
          .filter(({ to }) => to.includes(address))
          .flatMap((mail) => mail.text.match(/https?:\/\/\S+/g) ?? [])
          .findLast((link) => new URL(link).pathname === path),
      ),
    empty: () => void mails.splice(0),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
