import {
  ContainerConfigFields,
  containerConfigFieldNames,
  invalidArgument,
  isContainerConfigField,
} from '@crux/contract'
import { markerSections, sameValue } from './config-parts.ts'
import { fillRowIds } from './config-patch.ts'
import { expandShorthands, type Fail } from './json-readers.ts'
import { isRecord } from './json-record.ts'

/**
 * A configuration as the JSON tab shows it: no ids, key-value lists as objects, key lists as arrays of text. It contains no values of secrets; in a
 * base layer it contains their keys.
 */
export type ConfigJson = Record<string, unknown>

export function configToJson(fields: ContainerConfigFields, { base = false }: { base?: boolean } = {}): ConfigJson {
  const json: ConfigJson = {}
  for (const name of containerConfigFieldNames) {
    const value = fields[name]
    if (value === null || value === undefined || (name === 'secrets' && !base)) continue
    json[name] = toJson(name, value)
  }
  return json
}

export type ParsedConfigJson =
  | { ok: true; patch: Partial<ContainerConfigFields> }
  | { ok: false; property: string | undefined; description: string }

/**
 * Parses the text of the JSON tab and compares it with the current fields. Rows may be short: `"ports": ["8080:80/udp"]`, `"volumes":
 * ["data:/data:ro"]`, `"ulimits": {"nofile": "1024:4096"}`, `"restartPolicy": "unless-stopped"`.
 *
 * @param options.newId creates ids for new rows; rows with a known key keep theirs
 * @param options.base whether this is a base layer, where `secrets: [{key, required, generate}]` is accepted
 * @returns the patch: only changed fields, null for those that were removed from the text; secrets stay where the text names none
 */
export function configFromJson(
  text: string,
  current: ContainerConfigFields,
  options: { newId: () => string; base: boolean },
): ParsedConfigJson {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    return refused(undefined, `This is no JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
  if (!isRecord(json)) return refused(undefined, 'Write one object: { "name": "web" }')
  const problems: { property: string; description: string }[] = []
  const fail: Fail = (property, description) => problems.push({ property, description })
  for (const name of Object.keys(json)) {
    if (!isContainerConfigField(name)) return refused(name, `${name} is not a setting`)
    if (name === 'secrets' && !options.base) return refused(name, 'Set secrets in the form')
  }
  const given = expandShorthands(json, fail)
  const [problem] = problems
  if (problem) return refused(problem.property, problem.description)
  const parsed = ContainerConfigFields.safeParse(given)
  if (!parsed.success) {
    const [first] = invalidArgument(parsed.error).details ?? []
    return refused(first?.property, first?.description ?? 'A value is not valid')
  }
  const filled = fillRowIds(parsed.data, current, options.newId)
  const patch: Partial<ContainerConfigFields> = {}
  for (const name of containerConfigFieldNames) {
    if (name === 'secrets' && !(name in given)) continue
    const next = filled[name] ?? null
    if (!sameInJson(name, next, current[name])) Object.assign(patch, { [name]: next })
  }
  return { ok: true, patch }
}

const refused = (property: string | undefined, description: string): ParsedConfigJson => ({
  ok: false,
  property,
  description,
})

const byKey = new Set(['environment', 'capabilities', 'dockerLabels', 'extraLBAnnotations', 'extraHosts', 'ulimits'])

/** The order of a JSON object has no meaning, and keys such as "1" are always sorted first. */
function sameInJson(name: string, next: unknown, current: unknown): boolean {
  if (!byKey.has(name) || !Array.isArray(next) || !Array.isArray(current)) return sameValue(next, current)
  const sorted = (rows: { key: string }[]) => [...rows].sort((a, b) => (a.key < b.key ? -1 : 1))
  return sameValue(sorted(next), sorted(current))
}

function toJson(name: string, value: unknown): unknown {
  if (name === 'ulimits') return toObject(value, ({ soft, hard }) => ({ soft, hard }))
  if (byKey.has(name)) return toObject(value)
  if (name === 'networks' || name === 'customHeaders' || name === 'commands' || name === 'args') return toTexts(value)
  if (name === 'labels' || name === 'annotations')
    return mapped(value, Object.fromEntries(markerSections.map((section) => [section, (rows) => toObject(rows)])))
  if (name === 'healthCheckConfig') return mapped(value, { arguments: toTexts })
  if (name === 'logConfig') return mapped(value, { options: (rows) => toObject(rows) })
  if (!Array.isArray(value)) return value
  if (name === 'secrets')
    return value.map(({ key, required, generate }: KeyRow) => ({
      key,
      required,
      ...(generate !== undefined && { generate }),
    }))
  if (name === 'initContainers')
    return value.map((row) =>
      mapped(row, {
        command: toTexts,
        args: toTexts,
        environment: (rows) => toObject(rows),
        volumes: (rows) => (Array.isArray(rows) ? rows.map((inner) => mapped(inner, {})) : rows),
      }),
    )
  return value.map((row) => mapped(row, {}))
}

type KeyRow = { key: string } & Record<string, unknown>
const toObject = (rows: unknown, read: (row: KeyRow) => unknown = (row) => row.value): unknown =>
  Array.isArray(rows) ? Object.fromEntries(rows.map((row: KeyRow) => [row.key, read(row)])) : rows
const toTexts = (rows: unknown): unknown => (Array.isArray(rows) ? rows.map((row: KeyRow) => row.key) : rows)

/** The object with some of its properties converted and without its own row id. */
function mapped(value: unknown, converters: Record<string, (inner: unknown) => unknown>): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== 'id' && inner !== undefined)
      .map(([name, inner]) => [name, converters[name]?.(inner) ?? inner]),
  )
}
