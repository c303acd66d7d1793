const hidden = '***'
/** Shorter values occur in many lines, and are too short to be worth protecting. */
const shortest = 6
/** The engine of this program refuses a longer expression, with an error that repeats all of it. */
const expressionMax = 10_000

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
  const steps = toGroups(pieces).map(toReplacement)
  return (text) => steps.reduce((redacted, replace) => replace(redacted), text)
}

/** Pieces that one expression can find together, in their order. */
function toGroups(pieces: readonly string[]): string[][] {
  const groups: string[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const piece of pieces) {
    length += piece.length
    if (length > expressionMax) {
      groups.push([])
      length = piece.length
    }
    groups.at(-1)?.push(piece)
  }
  return groups
}

function toReplacement(group: readonly string[]): (text: string) => string {
  const [first = ''] = group
  if (group.length === 1) return (text) => text.replaceAll(first, hidden)
  const any = new RegExp(group.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  return (text) => text.replace(any, hidden)
}
