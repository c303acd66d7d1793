export type Fact<Name extends string = string> = { name: Name; value: string }
export type GeneralFact =
  | 'id'
  | 'kind'
  | 'namespace'
  | 'name'
  | 'replicas'
  | 'status'
  | 'exitCode'
  | 'error'
  | 'image'
  | 'hash'
  | 'restartCount'
  | 'createdAt'
  | 'startedAt'
  | 'finishedAt'
  | 'hostname'
  | 'ip'
export type Inspection = {
  /** Objects of a cluster are shown as YAML, as kubectl prints them. */
  isOfCluster: boolean
  general: Fact<GeneralFact>[]
  environment: Fact[]
  labels: Fact[]
  networks: Fact[]
  mounts: Fact[]
  rest: Fact[]
}

/** Facts without those whose value is not known. */
export const toFacts = (facts: readonly [GeneralFact, string | number | undefined][]): Fact<GeneralFact>[] =>
  facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: String(value) }]))

export const byName = (a: Fact, b: Fact) => a.name.localeCompare(b.name)

/** What lies deeper is shown as JSON: an answer nested a thousand times must not end the page. */
const depthMax = 8

/**
 * All values of an answer by their paths, without those that are shown elsewhere. A list of plain values is one value, as in the JSON.
 *
 * @param without paths that are left out with everything below them
 */
export const listByPath = (value: unknown, without: ReadonlySet<string>): Fact[] =>
  list(value, { path: '', depth: 0, without }).sort(byName)

type Place = { path: string; depth: number; without: ReadonlySet<string> }

function list(value: unknown, { depth, path, without }: Place): Fact[] {
  if (without.has(path) || value === null || value === undefined || value === '') return []
  if (typeof value !== 'object') return [{ name: path, value: String(value) }]
  const entries = Object.entries(value)
  if (entries.length === 0) return []
  if (depth === depthMax || (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')))
    return [{ name: path, value: JSON.stringify(value) }]
  return entries.flatMap(([key, entry]) =>
    list(entry, { path: path ? `${path}.${key}` : key, depth: depth + 1, without }),
  )
}
