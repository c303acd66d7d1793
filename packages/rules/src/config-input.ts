import {
  type ContainerConfigFields,
  ContainerConfigPatch,
  containerConfigFieldNames,
  propertyPath,
} from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { expandShorthands } from './json-readers.ts'

type Json = Record<string, unknown>
export type ConfigInput =
  | {
      ok: true
      /** Ready for the contract's schema: shorthands are rows, paths are absolute, unfinished rows are left out. */
      config: Json
      /** By list: ids of rows that are still being typed. They stay as they are stored. */
      typing: Record<string, string[]>
    }
  | { ok: false; problems: ConfigProblem[] }

/** Members of our own answers: clients may send back what they read. */
const answered: ReadonlySet<string> = new Set(['id', 'type', 'updatedAt', 'updatedBy', 'revision', 'parent'])
const schema = ContainerConfigPatch.shape.config

/**
 * Reads the `config` of a change as clients write it, before its schema judges it: rows may be short (`"ports": ["8080:80"]`),
 * paths inside containers may lack the leading slash and buckets may have slashes around them. A list row whose required keys are
 * null or empty is a row that somebody is typing: existing clients send it with every key press, so it is left out and reported
 * in `typing`; a setting with such members is left out whole.
 *
 * @param options.mayBeUnfinished false refuses unfinished rows like every other invalid value
 * @returns problems for names that are no setting, at any depth, and for shorthands that cannot be read
 */
export function readConfigInput(input: Json, { mayBeUnfinished }: { mayBeUnfinished: boolean }): ConfigInput {
  const problems: ConfigProblem[] = []
  const known: Json = {}
  for (const [name, value] of Object.entries(input)) {
    if ((containerConfigFieldNames as string[]).includes(name)) known[name] = value
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

/** The schema drops what it does not know; everything that it dropped was not going to take effect. */
function unknownMembers(given: unknown, parsed: unknown, path: PropertyKey[] = []): ConfigProblem[] {
  if (typeof given !== 'object' || given === null || typeof parsed !== 'object' || parsed === null) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const at = [...path, Array.isArray(given) ? Number(name) : name]
    if (value === undefined || name === 'id') return []
    if (!Object.hasOwn(parsed, name)) return [unknownSetting(propertyPath(at))]
    return unknownMembers(value, (parsed as Json)[name], at)
  })
}

/** One pass may uncover faults that the schema looks for only where the shape is right. */
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
      const list = config[field] as Json[]
      const ids = [...indexes].flatMap((index) => (typeof list[index]?.id === 'string' ? [list[index].id] : []))
      typing[field] = [...(typing[field] ?? []), ...ids]
      config = { ...config, [field]: list.filter((_, index) => !indexes.has(index)) }
    }
  }
  return config
}

/** What a form holds before anybody has typed; 0 stands for a port that was not entered. */
const isEmpty = (value: unknown) => value === undefined || value === null || value === '' || value === 0

const valueAt = (config: Json, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part], config)

function normalizePaths(config: Json): Json {
  const next = { ...config }
  const change = (field: string, convert: (value: unknown) => unknown) => {
    if (next[field] !== undefined && next[field] !== null) next[field] = convert(next[field])
  }
  const rows = (convert: (row: Json) => Json) => (list: unknown) =>
    Array.isArray(list) ? list.map((row) => (isObject(row) ? convert(row) : row)) : list
  const withPath = (row: Json) => ({ ...row, path: toAbsolute(row.path) })
  const withMember = (name: string, convert: (value: unknown) => unknown) => (value: unknown) =>
    isObject(value) && name in value ? { ...value, [name]: convert(value[name]) } : value
  change('name', (name) => (name === '' ? null : name))
  change('workingDirectory', toAbsolute)
  change('volumes', rows(withPath))
  change(
    'initContainers',
    rows((row) => withMember('volumes', rows(withPath))(row) as Json),
  )
  change('configContainer', withMember('path', toAbsolute))
  change('routing', withMember('path', toAbsolute))
  change('storage', withMember('bucket', withoutOuterSlashes))
  return next
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An empty path stays empty, and a drive letter is left for the rules to refuse. */
const toAbsolute = (path: unknown) =>
  typeof path === 'string' && path.trim() !== '' && !/^\s*([a-zA-Z]:)?[/\\]/.test(path) ? `/${path.trim()}` : path

const withoutOuterSlashes = (bucket: unknown) =>
  typeof bucket === 'string' ? bucket.trim().replace(/^\/+|\/+$/g, '') : bucket

/**
 * Puts the stored rows that are being typed back at their places in the list that a patch came to. A list that was not set stays
 * so while its first row is typed: an empty list would be a setting of its own.
 */
export function keepTypedRows(
  fields: ContainerConfigFields,
  before: ContainerConfigFields,
  typing: Readonly<Record<string, readonly string[]>> = {},
): ContainerConfigFields {
  const next: Json = { ...fields }
  for (const [field, ids] of Object.entries(typing)) {
    const stored = Object.hasOwn(before, field) ? (before as Json)[field] : undefined
    const patched = Object.hasOwn(next, field) ? next[field] : undefined
    if (!Array.isArray(patched) || !Array.isArray(stored ?? [])) continue
    if (stored === undefined || stored === null) {
      if (patched.length === 0) delete next[field]
      continue
    }
    const list = [...patched]
    ;(stored as Json[]).forEach((row, index) => {
      if (ids.includes(String(row.id)) && !list.some(({ id }: Json) => id === row.id)) list.splice(index, 0, row)
    })
    next[field] = list
  }
  return next
}
