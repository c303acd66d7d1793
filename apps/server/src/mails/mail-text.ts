import type { OutgoingMail } from '@crux/service-kit/mail'

/** Users typed these names, which must not start new lines or contain hidden characters. */
export const onOneLine = (text: string): string =>
  text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 70)

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

type Parts = { lead: string; link?: { instruction: string; url: string }; close: string }

/** A mail of a few paragraphs, as text and as HTML. */
export function toMail(recipient: string, subject: string, { lead, link, close }: Parts): OutgoingMail {
  const url = escapeHtml(link?.url ?? '')
  return {
    recipient,
    subject,
    text: `${[lead, ...(link ? [link.instruction, link.url] : []), close].join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      `<p>${escapeHtml(lead)}</p>`,
      ...(link ? [`<p>${link.instruction}<br><a href="${url}">${url}</a></p>`] : []),
      `<p style="color:#666">${escapeHtml(close)}</p>`,
      '</body></html>',
    ].join('\n'),
  }
}
