import type { OutgoingMail } from '@crux/service-kit/mail'
import { escapeHtml, onOneLine } from './mail-text.ts'

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
  const lead = `${caller} to join the team "${team}" on Crux.`
  const end = 'The invitation is valid for one week. If you did not expect it, you can ignore this mail.'
  return {
    recipient,
    subject: `Invitation to the team ${team}`,
    text: [lead, '', instruction, '', link, '', end, ''].join('\n'),
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      `<p>${escapeHtml(lead)}</p>`,
      `<p>${instruction}<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`,
      `<p style="color:#666">${end}</p>`,
      '</body></html>',
    ].join('\n'),
  }
}
