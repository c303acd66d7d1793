/** Shorter ones are in every other line, and nothing that anybody would guard. */
const shortest = 6

/**
 * Takes the values of secrets out of a text, and each line of those that have several, since logs come line by line.
 *
 * @returns a function that leaves a text alone where there is nothing to hide
 */
export function redactorOf(values: Iterable<string>): (text: string) => string {
  const pieces = [
    ...new Set([...values].flatMap((value) => [value, ...value.split(/\r?\n/)].map((line) => line.trim()))),
  ]
    .filter((piece) => piece.length >= shortest)
    // Of two that begin alike, the longer one.
    .sort((a, b) => b.length - a.length)
  if (pieces.length === 0) return (text) => text
  const any = new RegExp(pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  return (text) => text.replace(any, '***')
}
