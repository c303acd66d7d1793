export type SplitCommand =
  | {
      ok: true
      words: string[] /** The first character that only a shell understands. */
      operator: string | undefined
    }
  | { ok: false; problem: string }

/**
 * Splits a command into words as a POSIX shell does: blanks separate, single quotes keep everything, double quotes everything but a backslash before
 * `$`, a backquote, `"`, a backslash or the end of the line, and a backslash keeps the next character (POSIX.1-2024, XCU 2.2). Nothing is expanded.
 * Operators stay in their words, because no shell is there that could follow them.
 */
export function splitCommand(text: string): SplitCommand {
  const words: string[] = []
  let word: string | undefined
  let operator: string | undefined
  let at = 0
  while (at < text.length) {
    const character = text.charAt(at)
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
      at += 1
    } else if (character === '\\') {
      if (at + 1 >= text.length)
        return { ok: false, problem: 'The command ends with a backslash: remove it, or write two' }
      const next = text.charAt(at + 1)
      if (next !== '\n') word = (word ?? '') + next
      at += 2
    } else if (character === "'" || character === '"') {
      const quoted = character === "'" ? readSingleQuoted(text, at) : readDoubleQuoted(text, at)
      if (!quoted)
        return {
          ok: false,
          problem: `A quotation mark (${character}) is not closed: add the second one, or write a list`,
        }
      word = (word ?? '') + quoted.value
      at = quoted.end
    } else {
      if (/[;&|<>()`]/.test(character)) operator ??= character
      word = (word ?? '') + character
      at += 1
    }
  }
  if (word !== undefined) words.push(word)
  return { ok: true, words, operator }
}

type Quoted = { value: string; end: number }

function readSingleQuoted(text: string, start: number): Quoted | undefined {
  const end = text.indexOf("'", start + 1)
  return end < 0 ? undefined : { value: text.slice(start + 1, end), end: end + 1 }
}

function readDoubleQuoted(text: string, start: number): Quoted | undefined {
  const parts: string[] = []
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') return { value: parts.join(''), end: at + 1 }
    const next = text.charAt(at + 1)
    if (character === '\\' && /[$`"\\\n]/.test(next)) {
      if (next !== '\n') parts.push(next)
      at += 1
    } else parts.push(character)
  }
  return undefined
}
