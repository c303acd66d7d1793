/** A mail before it is sent. Markup is escaped here and nowhere else. */
export interface Mail {
  recipient: string
  subject: string
  text: string
  html: string
  /** After this moment it is better not to arrive at all. */
  usefulUntil: Date
}

/** Asks a person to verify an address. The code stands alone on its line; the one link fills it in on our page. */
export function verificationMail(options: { recipient: string; code: string; link: string; usefulUntil: Date }): Mail {
  const { recipient, code, link, usefulUntil } = options
  const lead = 'Please verify your e-mail address for Crux with this code:'
  const instead = 'Or open this page, which fills the code in for you:'
  const ignore = 'If you did not sign up, you can ignore this mail.'
  return {
    recipient,
    subject: 'Verify your e-mail address',
    text: [lead, '', code, '', instead, '', link, '', ignore, ''].join('\n'),
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      `<p>${lead}</p>`,
      `<p style="font-size:24px;font-weight:600;letter-spacing:4px">${escapeHtml(code)}</p>`,
      `<p>${instead}<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`,
      `<p style="color:#666">${ignore}</p>`,
      '</body></html>',
    ].join('\n'),
    usefulUntil,
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
