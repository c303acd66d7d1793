import type { OutgoingMail } from '@crux/service-kit/mail'
import { onOneLine, toMail } from './mail-text.ts'

/** What happened in a team, for a member that a notification names. `text` is on one line. */
export function notificationMail(
  recipient: string,
  { text, teamName, link }: { text: string; teamName: string; link: string },
): OutgoingMail {
  const team = onOneLine(teamName)
  const subject = onOneLine(text)
  return toMail(recipient, `[${team}] ${subject.length < text.length ? `${subject.slice(0, 69)}…` : subject}`, {
    lead: text,
    link: { instruction: 'Open it in Crux:', url: link },
    close: `You get this mail because a notification of the team "${team}" names you. An admin of the team can change that.`,
  })
}
