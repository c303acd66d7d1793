/**
 * A container may write lines of a megabyte, or no line end at all; a message to the server holds 16 megabytes, with up to three bytes per
 * character.
 */
const lineCharsMax = 64 * 1_024
const sumCharsMax = 2 * 1_024 * 1_024

/** Returns the last lines of a log that fit into one message: long lines are cut, and the first lines are left out where the total is too long. */
export function getLastLines<L extends { text: string }>(lines: readonly L[]): L[] {
  const kept: L[] = []
  let sum = 0
  for (const line of lines.toReversed()) {
    const text = line.text.length > lineCharsMax ? `${line.text.slice(0, lineCharsMax)}… (cut)` : line.text
    sum += text.length
    if (sum > sumCharsMax) break
    kept.push(text === line.text ? line : { ...line, text })
  }
  return kept.reverse()
}
