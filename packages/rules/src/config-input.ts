import { type ContainerConfigFields, ContainerConfigPatch, isContainerConfigField, propertyPath } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { expandShorthands } from './json-readers.ts'
import { isRecord, type JsonRecord, toRecord, valueAt } from './json-record.ts'

type Json = Record<string, unknown>
export type ConfigInput =
  | {
      ok: true
      /** Ready for the schema of the contract: shorthands are rows, paths are absolute, unfinished rows are omitted. */
      config: Json
      /** By list: ids of rows that the user is still typing. They keep their stored values. */
      typing: Record<string, string[]>
    }
  | { ok: false; problems: ConfigProblem[] }

/** Members that the server adds to its answers: clients may send them back. */
const answered: ReadonlySet<string> = new Set(['id', 'type', 'updatedAt', 'updatedBy', 'revision', 'parent'])
const schema = ContainerConfigPatch.shape.config

/**
 * Parses the `config` of a change as clients write it, before its schema validates it: rows may be short (`"ports": ["8080:80"]`), paths inside
 * containers may lack the leading slash and buckets may have slashes around them. A list row whose required keys are null or empty is still being
 * typed (docs/decisions.md#rows-that-are-being-typed), so it is omitted and reported in `typing`; a setting with such members is omitted as a whole.
 *
 * @param options.mayBeUnfinished false refuses unfinished rows like every other invalid value
 * @returns problems for unknown settings at any depth, and for shorthands that cannot be parsed
 */
export function readConfigInput(input: Json, { mayBeUnfinished }: { mayBeUnfinished: boolean }): ConfigInput {
  const problems: ConfigProblem[] = []
  const known: Json = {}
  for (const [name, value] of Object.entries(input)) {
    if (isContainerConfigField(name)) known[name] = value
    else if (!answered.has(name)) problems.push(unknownSetting(name))
  }
  const expanded = expandShorthands(known, (property, description) =>
    problems.push(problem(property, 'matches', description)),
  )
  let config = normalizePaths(expanded)
  const typing: Record<string, string[]> = {}
  if (mayBeUnfinished) config = withoutUnfinished(config, typing)
  const parsed = schema.safeParse(config)
  if (parsed.success) problems.push(...unknownMembers(config, parsed.data))
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config, typing }
}

const unknownSetting = (property: string) =>
  problem(property, 'unknown', `${property} is not a setting: check the spelling, or remove it`)

/** The schema drops unknown members, so a comparison with its output finds them. */
function unknownMembers(given: unknown, parsed: unknown, path: PropertyKey[] = []): ConfigProblem[] {
  if (typeof given !== 'object' || given === null || typeof parsed !== 'object' || parsed === null) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const at = [...path, Array.isArray(given) ? Number(name) : name]
    if (value === undefined || name === 'id') return []
    if (!Object.hasOwn(parsed, name)) return [unknownSetting(propertyPath(at))]
    return unknownMembers(value, Reflect.get(parsed, name), at)
  })
}

/** One pass may reveal errors that the schema checks only after the shape is right. */
const passesMax = 3

function withoutUnfinished(input: Json, typing: Record<string, string[]>): Json {
  let config = input
  for (let pass = 0; pass < passesMax; pass++) {
    const issues = schema.safeParse(config).error?.issues ?? []
    const rows = new Map<string, Set<number>>()
    const fields = new Set<string>()
    for (const { path } of issues) {
      const [field, index] = path
      if (typeof field !== 'string' || !isEmpty(valueAt(config, path))) continue
      if (typeof index === 'number') rows.set(field, (rows.get(field) ?? new Set()).add(index))
      else if (path.length > 1) fields.add(field)
    }
    if (rows.size + fields.size === 0) break
    config = Object.fromEntries(Object.entries(config).filter(([field]) => !fields.has(field)))
    for (const [field, indexes] of rows) {
      const list: unknown[] = Array.isArray(config[field]) ? config[field] : []
      const ids = [...indexes].map((index) => toRecord(list[index]).id).filter((id) => typeof id === 'string')
      typing[field] = [...(typing[field] ?? []), ...ids]
      config = { ...config, [field]: list.filter((_, index) => !indexes.has(index)) }
    }
  }
  return config
}

/** The initial value of a form input; 0 is a port that was not entered. */
const isEmpty = (value: unknown) => value === undefined || value === null || value === '' || value === 0

function normalizePaths(config: Json): Json {
  const next = { ...config }
  const change = (field: string, convert: (value: unknown) => unknown) => {
    if (next[field] !== undefined && next[field] !== null) next[field] = convert(next[field])
  }
  const rows = (convert: (row: JsonRecord) => unknown) => (list: unknown) =>
    Array.isArray(list) ? list.map((row) => (isRecord(row) ? convert(row) : row)) : list
  const withPath = (row: JsonRecord) => ({ ...row, path: toAbsolute(row.path) })
  const withMember = (name: string, convert: (value: unknown) => unknown) => (value: unknown) =>
    isRecord(value) && name in value ? { ...value, [name]: convert(value[name]) } : value
  change('name', (name) => (name === '' ? null : name))
  change('workingDirectory', toAbsolute)
  change('volumes', rows(withPath))
  change('initContainers', rows(withMember('volumes', rows(withPath))))
  change('configContainer', withMember('path', toAbsolute))
  change('routing', withMember('path', toAbsolute))
  change('storage', withMember('bucket', withoutOuterSlashes))
  return next
}

/** An empty path stays empty, and a drive letter is refused later by the rules. */
const toAbsolute = (path: unknown) =>
  typeof path === 'string' && path.trim() !== '' && !/^\s*([a-zA-Z]:)?[/\\]/.test(path) ? `/${path.trim()}` : path

const withoutOuterSlashes = (bucket: unknown) =>
  typeof bucket === 'string' ? bucket.trim().replace(/^\/+|\/+$/g, '') : bucket

/**
 * Puts stored rows that are being typed back at their positions in the patched list. A list that was not set stays unset while its first row is
 * typed, because an empty list is a setting of its own.
 */
export function keepTypedRows(
  fields: ContainerConfigFields,
  before: ContainerConfigFields,
  typing: Readonly<Record<string, readonly string[]>> = {},
): ContainerConfigFields {
  const next = { ...fields }
  for (const field of Object.keys(typing).filter(isContainerConfigField)) {
    const [stored, patched] = [before[field], next[field]]
    if (!Array.isArray(patched)) continue
    if (stored === undefined || stored === null) {
      if (patched.length === 0) delete next[field]
      continue
    }
    if (!Array.isArray(stored)) continue
    const list: { id?: string }[] = [...patched]
    for (const [index, row] of stored.entries())
      if (typing[field]?.includes(String(row.id)) && !list.some(({ id }) => id === row.id)) list.splice(index, 0, row)
    Object.assign(next, { [field]: list })
  }
  return next
}
