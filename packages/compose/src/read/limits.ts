/** Limits of what is read. They count and never measure time, so that the same files always have the same result. */
export const limits = {
  /** Characters of all compose files together, and of each `.env` file. */
  textLength: 1024 * 1024,
  /** Values of all files together, with aliases expanded. */
  nodes: 10_000,
  depth: 100,
  /** Pieces of YAML that the lexer finds: more than any file with 10,000 values needs. */
  lexemes: 100_000,
  /** Parts outside of the document, such as comments before it, and errors. */
  outerTokens: 5_000,
  /** Nodes that interpolation, includes, extends and merging create. */
  createdNodes: 60_000,
  /** Characters of one value after interpolation. */
  valueLength: 64 * 1024,
  /** Characters of all values after interpolation. */
  valuesLength: 4 * 1024 * 1024,
  /** Defaults inside defaults, as in `${A:-${B:-${C}}}`. */
  nestedDefaults: 20,
  /** Variables of one `.env` file. */
  variables: 10_000,
  /** Files that include each other in a row. */
  includeDepth: 20,
  /** Services that extend each other in a row. */
  extendsDepth: 50,
  problems: 50,
} as const

/** Thrown inside the package when a limit is reached; `readCompose` turns it into a problem. */
export class LimitError extends Error {}

export type Budget = {
  /** Counts values that a file contains. */
  readNodes(count: number): void
  /** Counts pieces of YAML. */
  readLexeme(): void
  /** Counts nodes that are made from others. */
  createNodes(count: number): void
  /** Checks the number of values of merged files. */
  checkSize(nodes: number): void
  /** Counts characters of values. */
  addText(length: number): void
}

export function createBudget(): Budget {
  let nodes = 0
  let lexemes = 0
  let created = 0
  let text = 0
  const checkSize = (count: number) => {
    if (count > limits.createdNodes)
      throw new LimitError(
        `With everything that is included and extended, there are more than ${format(limits.createdNodes)} values. Include and extend less.`,
      )
  }
  return {
    readNodes(count) {
      nodes += count
      if (nodes > limits.nodes)
        throw new LimitError(
          `The files have more than ${format(limits.nodes)} values, counting each alias as what it repeats. Remove values, or split the files into several projects.`,
        )
    },
    readLexeme() {
      lexemes += 1
      if (lexemes > limits.lexemes)
        throw new LimitError(
          `The files are too large: they have more than ${format(limits.nodes)} values. Remove values, or split the files into several projects.`,
        )
    },
    createNodes(count) {
      created += count
      checkSize(created)
    },
    checkSize,
    addText(length) {
      text += length
      if (text > limits.valuesLength)
        throw new LimitError(
          'With all variables inserted, the values have more than 4 MiB together. Insert long variables less often.',
        )
    },
  }
}

const format = (count: number) => count.toLocaleString('en')
