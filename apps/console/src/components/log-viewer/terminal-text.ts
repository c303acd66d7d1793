/** A piece of a line with one style. The text is plain: React escapes it, and nothing in it can steer the page. */
export type Piece = { text: string; className?: string }

const escapeCode = String.fromCharCode(27)
const bell = String.fromCharCode(7)
// Control sequences: CSI (colours, cursor), OSC (titles, links) up to BEL or ST, and single-letter escapes.
const sequence = new RegExp(
  `${escapeCode}(?:\\[([0-9;:?]*)[ -/]*([@-~])|\\][^${bell}${escapeCode}]*(?:${bell}|${escapeCode}\\\\)?|[@-Z\\\\^_]|[ -/]+.)`,
  'g',
)
// What could reorder or hide text: other control characters, and Unicode's direction overrides.
const range = (from: number, to: number) => `${String.fromCharCode(from)}-${String.fromCharCode(to)}`
const ranges: [from: number, to: number][] = [
  [0, 8],
  [11, 31],
  [127, 159],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
]
const hidden = new RegExp(`[${ranges.map(([from, to]) => range(from, to)).join('')}]`, 'g')

/** The text without any control sequence: for searching, copying, downloading. */
export function plainText(line: string): string {
  const text = line.includes(escapeCode) ? line.replace(sequence, '') : line
  return text.replace(hidden, (character) => (character === '\r' ? '' : '\ufffd'))
}

/** Splits a line at its colour sequences (ECMA-48 SGR) into pieces that use the page's own tones; other sequences vanish. */
export function pieces(line: string): Piece[] {
  if (!line.includes(escapeCode)) return [{ text: plainText(line) }]
  const found: Piece[] = []
  let textStyle: TextStyle = {}
  let from = 0
  const take = (to: number) => {
    const text = plainText(line.slice(from, to))
    if (text !== '') found.push({ text, className: toClassName(textStyle) })
  }
  for (const match of line.matchAll(sequence)) {
    take(match.index)
    from = match.index + match[0].length
    if (match[2] === 'm') textStyle = applyStyleCodes(textStyle, match[1] ?? '')
  }
  take(line.length)
  return found
}

type TextStyle = { tone?: string; bold?: boolean; dim?: boolean; underline?: boolean }

/** Black and white follow the theme; the six colours become tones that keep their contrast in both themes. */
const tones = [
  'text-ink-3',
  'text-failed',
  'text-running',
  'text-progress',
  'text-accent',
  'text-past',
  'text-ready',
  undefined,
] as const

function applyStyleCodes(textStyle: TextStyle, parameters: string): TextStyle {
  const codes = parameters.split(/[;:]/).map(Number)
  let next = textStyle
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 4) next = { ...next, underline: true }
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 24) next = { ...next, underline: false }
    else if (code >= 30 && code <= 37) next = { ...next, tone: tones[code - 30] }
    else if (code >= 90 && code <= 97) next = { ...next, tone: tones[code - 90] }
    else if (code === 39) next = { ...next, tone: undefined }
    else if (code === 38 || code === 48) {
      // Extended colours carry their value behind them: 5;n or 2;r;g;b. The 16 basic ones are known, others stay as they were.
      const basic = codes[at + 1] === 5 ? (codes[at + 2] ?? 16) : 16
      if (code === 38 && basic < 16) next = { ...next, tone: tones[basic % 8] }
      at += codes[at + 1] === 5 ? 2 : 4
    }
  }
  return next
}

const toClassName = ({ tone, bold, dim, underline }: TextStyle): string | undefined => {
  const names = [dim ? 'text-ink-3' : tone, bold && 'font-semibold', underline && 'underline'].filter(Boolean)
  return names.length > 0 ? names.join(' ') : undefined
}
