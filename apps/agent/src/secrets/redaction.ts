/** Shorter values occur in many lines, and are too short to be worth protecting. */
const shortest = 6

/**
 * Removes the values of secrets from a text, and each line of those that have several, since logs come line by line.
 *
 * @returns a function that leaves a text unchanged where there is nothing to hide
 */
export function createRedactor(values: Iterable<string>): (text: string) => string {
  const pieces = [
    ...new Set([...values].flatMap((value) => [value, ...value.split(/\r?\n/)].map((line) => line.trim()))),
  ]
    .filter((piece) => piece.length >= shortest)
    // Of two values with the same beginning, the longer one is replaced first.
    .sort((a, b) => b.length - a.length)
  if (pieces.length === 0) return (text) => text
  const any = new RegExp(pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  return (text) => text.replace(any, '***')
}
