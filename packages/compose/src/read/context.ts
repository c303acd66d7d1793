import type { ReadInput, SourceFile, SourcePosition } from '../model.ts'
import { readEnvFile } from './env-file.ts'
import { createFileFinder, type FileFinder } from './file-paths.ts'
import { interpolate } from './interpolate.ts'
import { type Budget, createBudget } from './limits.ts'
import { describeKind } from './merge.ts'
import type { MapNode } from './nodes.ts'
import { parseYaml } from './parse-yaml.ts'
import { createProblemList, type ProblemList } from './problems.ts'
import type { Lookup } from './substitute.ts'
import { reportRepeatedTargets } from './unique-items.ts'

/** What all steps of one call of `readCompose` share. */
export type ReadContext = {
  findFile: FileFinder<SourceFile>
  findEnvFile: FileFinder<SourceFile>
  budget: Budget
  problems: ProblemList
  /** The values of the default `.env`. */
  variables: Lookup
  /** The file that is being read, for problems that concern all of it. */
  current: string
  /** A file as it is written; undefined for an empty or invalid one. */
  parseFile(file: SourceFile): MapNode | undefined
  /** A file with its variables inserted; undefined for an empty or invalid one. Each is read once per set of variables. */
  readFile(file: SourceFile, variables: Lookup): MapNode | undefined
}

export function createReadContext({ files, envFiles }: ReadInput): ReadContext {
  const budget = createBudget()
  const problems = createProblemList([...files, ...envFiles].map(({ name }) => name))
  const parsed = new Map<SourceFile, MapNode | undefined>()
  const interpolated = new Map<Lookup, Map<SourceFile, MapNode | undefined>>()

  function parseFile(file: SourceFile): MapNode | undefined {
    if (parsed.has(file)) return parsed.get(file)
    context.current = file.name
    const root = parseYaml(file, budget, problems)
    const map = root?.kind === 'map' ? root : undefined
    if (root && !map && !(root.kind === 'scalar' && root.value === null))
      problems.error(
        root.position,
        [],
        `A compose file is a mapping with keys such as "services:", and this is ${describeKind(root)}.`,
      )
    parsed.set(file, map)
    return map
  }

  const context: ReadContext = {
    findFile: createFileFinder(files),
    findEnvFile: createFileFinder(envFiles),
    budget,
    problems,
    variables: () => undefined,
    current: files[0]?.name ?? '',
    parseFile,
    readFile(file, variables) {
      const cache = interpolated.get(variables) ?? new Map<SourceFile, MapNode | undefined>()
      interpolated.set(variables, cache)
      if (cache.has(file)) return cache.get(file)
      const root = parseFile(file)
      const inserted = root && interpolate(root, { lookup: variables, budget, problems })
      const map = inserted?.kind === 'map' ? inserted : undefined
      if (map) reportRepeatedTargets(map, problems)
      cache.set(file, map)
      return map
    },
  }
  return context
}

/** Reads the default `.env`, whose variables are inserted into the files. */
export function readDefaultVariables(file: SourceFile, context: ReadContext): void {
  const { budget, problems } = context
  context.current = file.name
  const values = readEnvFile(file, { lookup: () => undefined, budget, problems, path: [] })
  context.variables = (name) => values.get(name)
}

export const getFileStart = (file: string): SourcePosition => ({ file, line: 1, column: 1 })
