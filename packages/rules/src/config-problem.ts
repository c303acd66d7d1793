import type { ErrorDetail } from '@crux/contract'

/** `instances[0].config.ports[1].internal`, the rule that is broken, and what to do about it. */
export type ConfigProblem = ErrorDetail

export const problem = (property: string, error: string, description: string): ConfigProblem => ({
  property,
  error,
  description,
})

/** Rows by what must be single in their list; a problem at each one that comes again. */
export function repeated<T>(
  rows: readonly T[] | null | undefined,
  of: (row: T) => string,
  at: (index: number) => string,
  description: (key: string) => string,
): ConfigProblem[] {
  const seen = new Set<string>()
  return (rows ?? []).flatMap((row, index) => {
    const key = of(row)
    if (!seen.has(key)) {
      seen.add(key)
      return []
    }
    return [problem(at(index), 'keysAreUnique', description(key))]
  })
}
