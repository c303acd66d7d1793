import type { ComposePath, ComposeProblem, SourcePosition } from '../model.ts'
import { limits } from './limits.ts'

/** Collects problems; the same one at the same place is kept once. */
export type ProblemList = {
  error(position: SourcePosition, path: ComposePath, message: string): void
  warning(position: SourcePosition, path: ComposePath, message: string): void
  /** Names of services that have an error. */
  listInvalidServices(): Set<string>
  /** In the order of files and lines, at most 50; errors are kept before warnings. */
  list(): ComposeProblem[]
}

/** More are not kept: a file of this many problems is fixed from its first ones. */
const keptMax = 1_000

export function createProblemList(fileNames: readonly string[]): ProblemList {
  const problems = new Map<string, ComposeProblem>()
  const invalidServices = new Set<string>()
  const order = new Map(fileNames.map((name, index) => [name, index]))

  function add(level: ComposeProblem['level'], position: SourcePosition, path: ComposePath, message: string) {
    const service = path[0] === 'services' && path.length > 1 ? String(path[1]) : null
    if (level === 'error' && service !== null) invalidServices.add(service)
    const { file, line, column } = position
    const key = JSON.stringify([file, line, column, message])
    if (problems.size < keptMax && !problems.has(key))
      problems.set(key, { file, line, column, level, path: path.join('.'), service, message })
  }

  const compare = (a: ComposeProblem, b: ComposeProblem) =>
    (order.get(a.file) ?? order.size) - (order.get(b.file) ?? order.size) || a.line - b.line || a.column - b.column

  return {
    error: (position, path, message) => add('error', position, path, message),
    warning: (position, path, message) => add('warning', position, path, message),
    listInvalidServices: () => new Set(invalidServices),
    list() {
      const all = [...problems.values()]
      const errors = all.filter(({ level }) => level === 'error').sort(compare)
      const warnings = all.filter(({ level }) => level === 'warning').sort(compare)
      return [...errors, ...warnings].slice(0, limits.problems).sort(compare)
    },
  }
}
