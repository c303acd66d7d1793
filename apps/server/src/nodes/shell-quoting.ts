/**
 * A value as one word of POSIX sh (IEEE Std 1003.1, 2.2.2): inside single quotes only the quote itself is special.
 *
 * @throws on a NUL byte, which a word cannot contain
 */
export function shellWord(value: string): string {
  if (value.includes('\0')) throw new Error('a shell word cannot hold a NUL byte')
  return `'${value.replaceAll("'", `'\\''`)}'`
}

/**
 * A value as a PowerShell literal (about_Quoting_Rules): verbatim between single quotes. Typographic quotes are escaped
 * too, because PowerShell treats them as quotes.
 */
export function powershellLiteral(value: string): string {
  if (value.includes('\0')) throw new Error('a PowerShell literal cannot hold a NUL byte')
  return `'${value.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`
}

/** Text for a `#` comment of either language: one line without characters that could end it. */
export const commentText = (value: string): string =>
  value
    .replace(/[^\p{L}\p{N} ._-]/gu, ' ')
    .trim()
    .slice(0, 80)
