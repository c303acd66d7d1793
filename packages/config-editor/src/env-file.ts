/** `.env` files as Docker Compose and dotenv read them: `KEY=value`, `export`, comments, quotes, values over several lines. */
export type EnvPair = { key: string; value: string }
export type EnvFile = { pairs: EnvPair[]; problems: { line: number; text: string }[] }

const name = /^\s*(?:export\s+)?([^\s=#'"]+)\s*(?:=\s?|:\s+)/

/** A key that occurs twice has its last value; a line that is neither a pair nor a comment is a problem with its number. */
export function parseEnvFile(text: string): EnvFile {
  const pairs = new Map<string, string>()
  const problems: EnvFile['problems'] = []
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  let at = 0
  let line = 1
  while (at < source.length) {
    const end = endOfLine(source, at)
    const head = source.slice(at, end)
    const found = name.exec(head)
    if (!found?.[1]) {
      if (head.trim() !== '' && !head.trimStart().startsWith('#')) problems.push({ line, text: head.trim() })
      at = end + 1
      line += 1
      continue
    }
    const read = readValue(source, at + found[0].length, end)
    pairs.delete(found[1])
    pairs.set(found[1], read.value)
    line += source.slice(at, read.end).split('\n').length
    at = read.end + 1
  }
  return { pairs: [...pairs].map(([key, value]) => ({ key, value })), problems }
}

/** The file that reads as these pairs; quotes only where they are needed. */
export function formatEnvFile(pairs: readonly EnvPair[]): string {
  return pairs.map(({ key, value }) => `${key}=${formatValue(value)}\n`).join('')
}

function readValue(source: string, from: number, lineEnd: number): { value: string; end: number } {
  let start = from
  while (start < lineEnd && /[ \t]/.test(source[start] ?? '')) start += 1
  const quote = /["'`]/.exec(source[start] ?? '')?.[0]
  const close = quote ? closingQuote(source, start + 1, quote) : -1
  if (quote && close >= 0) {
    const end = endOfLine(source, close)
    // If text other than a comment follows the quotes, they are part of the value.
    if (/^\s*(#.*)?$/.test(source.slice(close + 1, end))) {
      const inner = source.slice(start + 1, close)
      return { value: quote === '"' ? unescaped(inner) : inner, end }
    }
  }
  const plain = source.slice(start, lineEnd)
  const comment = plain.startsWith('#') ? 0 : plain.search(/\s#/)
  return { value: (comment < 0 ? plain : plain.slice(0, comment)).trim(), end: lineEnd }
}

function closingQuote(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at += 1) {
    if (quote === '"' && source[at] === '\\') at += 1
    else if (source[at] === quote) return at
  }
  return -1
}

const endOfLine = (source: string, from: number): number => {
  const end = source.indexOf('\n', from)
  return end < 0 ? source.length : end
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }
const unescaped = (text: string) => text.replace(/\\([\s\S])/g, (whole, letter: string) => escapes[letter] ?? whole)

function formatValue(value: string): string {
  if (value === '') return ''
  if (/^[\w./:@%+,=?&~^*()[\]{}|<>!;-]+$/.test(value)) return value
  if (!value.includes("'") && !/[\r\n]/.test(value)) return `'${value}'`
  const inner = value.replace(/["\\$]/g, (letter) => `\\${letter}`).replace(/\r/g, '\\r')
  return `"${inner}"`
}
