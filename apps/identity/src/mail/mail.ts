/** A mail before it is sent. Markup is escaped only here. */
export interface Mail {
  recipient: string
  subject: string
  text: string
  html: string
  /** After this moment the mail is no longer useful and is not sent. */
  usefulUntil: Date
}

interface Content {
  recipient: string
  subject: string
  usefulUntil: Date
  /** Paragraphs before and after the code or link. */
  lead: string[]
  code?: string
  /** The address of a link and its text. */
  link?: { label: string; href: string }
  close: string[]
}

/** Renders a mail as HTML and as text. In the text, the code and the link are alone on their lines, so that programs and people find them. */
export function makeMail({ recipient, subject, usefulUntil, lead, code, link, close }: Content): Mail {
  const text = [
    ...lead,
    ...(code === undefined ? [] : [code]),
    ...(link === undefined ? [] : [link.label, link.href]),
    ...close,
  ]
  const shownCode = (value: string) =>
    `<p style="font-size:24px;font-weight:600;letter-spacing:4px">${escapeHtml(value)}</p>`
  const shownLink = ({ label, href }: { label: string; href: string }) =>
    `<p>${escapeHtml(label)}<br><a href="${escapeHtml(href)}">${escapeHtml(href)}</a></p>`
  const html = [
    '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
    ...lead.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    ...(code === undefined ? [] : [shownCode(code)]),
    ...(link === undefined ? [] : [shownLink(link)]),
    ...close.map((paragraph) => `<p style="color:#666">${escapeHtml(paragraph)}</p>`),
    '</body></html>',
  ]
  return { recipient, subject, text: `${text.join('\n\n')}\n`, html: html.join('\n'), usefulUntil }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
