import type { ErrorDetail } from '@crux/contract'

/** `instances[0].config.ports[1].internal`, the violated rule, and how to fix it. */
export type ConfigProblem = ErrorDetail

export const problem = (property: string, error: string, description: string): ConfigProblem => ({
  property,
  error,
  description,
})

export type Report = (property: string, error: string, description: string) => void

/** Returns the problems that the rules report, in the order of the reports. */
export function collectProblems(check: (report: Report) => void): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  check((property, error, description) => problems.push(problem(property, error, description)))
  return problems
}

/** Reports each row that repeats a value that must be unique in its list. */
export function reportRepeated<T>(
  report: Report,
  rows: readonly T[] | null | undefined,
  rule: { of: (row: T) => string; at: (index: number) => string; description: (key: string) => string },
): void {
  const seen = new Set<string>()
  for (const [index, row] of (rows ?? []).entries()) {
    const key = rule.of(row)
    if (seen.has(key)) report(rule.at(index), 'keysAreUnique', rule.description(key))
    seen.add(key)
  }
}

/** A setting that reaches the node, and why only an admin may confirm it. */
export type HostDanger = { property: string; value: string; reason: string }
