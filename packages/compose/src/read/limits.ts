/** Limits of what is read. They count and never measure time, so that the same files always have the same result. */
export const limits = {
  /** Characters of all compose files together, and of each `.env` file. */
  textLength: 1024 * 1024,
  /** Values of all files together, with aliases expanded. */
  nodes: 10_000,
  /** Characters of one key. */
  keyLength: 1_024,
  /** As many images as one import takes. */
  services: 500,
  depth: 100,
  /** Pieces of YAML that the lexer finds: more than any file with 10,000 values needs. */
  lexemes: 75_000,
  /** Parts outside of the document, such as comments before it, and errors. */
  outerTokens: 5_000,
  /** Values of the merged files, with what is included and extended. */
  mergedNodes: 20_000,
  /** Nodes that interpolation, includes, extends and merging create. */
  createdNodes: 60_000,
  /** Characters of one value after interpolation. */
  valueLength: 64 * 1024,
  /** Characters of all values after interpolation, and of the merged files. */
  valuesLength: 4 * 1024 * 1024,
  /** Defaults inside defaults, as in `${A:-${B:-${C}}}`. */
  nestedDefaults: 20,
  /** Characters of all `.env` files, each counted as often as it is read. */
  envTextLength: 2 * 1024 * 1024,
  /** Variables of all `.env` files, counted in the same way. */
  envVariables: 30_000,
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
  /** Checks the number of values of merged files, and the characters in them. */
  checkSize(nodes: number, textLength: number): void
  checkServices(count: number): void
  /** Counts characters of values. */
  addText(length: number): void
  /** Counts characters of an `.env` file that is read. */
  readEnvText(length: number): void
  readEnvVariable(): void
}

export function createBudget(): Budget {
  let nodes = 0
  let lexemes = 0
  let created = 0
  let text = 0
  let envText = 0
  let envVariables = 0
  const checkNodes = (count: number, max: number) => {
    if (count > max)
      throw new LimitError(
        `With everything that is included and extended, there are more than ${format(max)} values. Include and extend less.`,
      )
  }
  const checkText = (length: number) => {
    if (length > limits.valuesLength)
      throw new LimitError(
        'With all variables inserted, the values have more than 4 MiB together. Insert and extend long texts less often.',
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
          'The files are too large. Remove values, comments or blank lines, or split the files into several projects.',
        )
    },
    createNodes(count) {
      created += count
      checkNodes(created, limits.createdNodes)
    },
    checkSize(count, length) {
      checkNodes(count, limits.mergedNodes)
      checkText(length)
    },
    checkServices(count) {
      if (count > limits.services)
        throw new LimitError(`The files have more than ${limits.services} services. Split them into several projects.`)
    },
    addText(length) {
      text += length
      checkText(text)
    },
    readEnvText(length) {
      envText += length
      if (envText > limits.envTextLength)
        throw new LimitError(
          'The .env files have more than 2 MiB, each counted for every service that names it. Shorten them, or name them less often.',
        )
    },
    readEnvVariable() {
      envVariables += 1
      if (envVariables > limits.envVariables)
        throw new LimitError(
          `The .env files have more than ${format(limits.envVariables)} variables, each counted for every service that names its file. Remove those that the services do not need.`,
        )
    },
  }
}

const format = (count: number) => count.toLocaleString('en')
