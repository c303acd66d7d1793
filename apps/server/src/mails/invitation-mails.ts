import type { OutgoingMail } from '@crux/service-kit/mail'
import { onOneLine, toMail } from './mail-text.ts'

type About = { recipient: string; teamName: string; inviter: string | undefined; link: string }

/** For people without an account: the link signs in and asks for a password. */
export const inviteToAccountMail = (about: About): OutgoingMail =>
  invitationMail(about, 'Open this page to create your account and join:')

/** For people with an account: the page asks them to sign in, and whether to join. */
export const inviteToTeamMail = (about: About): OutgoingMail =>
  invitationMail(about, 'Open this page to accept or decline:')

function invitationMail({ recipient, teamName, inviter, link }: About, instruction: string): OutgoingMail {
  const team = onOneLine(teamName)
  const caller = inviter ? `${onOneLine(inviter)} invites you` : 'You are invited'
  return toMail(recipient, `Invitation to the team ${team}`, {
    lead: `${caller} to join the team "${team}" on Crux.`,
    link: { instruction, url: link },
    close: 'The invitation is valid for one week. If you did not expect it, you can ignore this mail.',
  })
}
