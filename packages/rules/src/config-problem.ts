import type { ErrorDetail } from '@crux/contract'

/** `instances[0].config.ports[1].internal`, the violated rule, and how to fix it. */
export type ConfigProblem = ErrorDetail

export const problem = (property: string, error: string, description: string): ConfigProblem => ({
  property,
  error,
  description,
})

/** Returns a problem at each row that repeats a value that must be unique in its list. */
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
