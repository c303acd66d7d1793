import { ContainerConfigFields, containerConfigFieldNames, invalidArgument } from '@crux/contract'
import { markerSections, sameValue } from './config-parts.ts'
import { fillRowIds } from './config-patch.ts'

/** A configuration as the JSON tab shows it (ui.md U13.6): no ids, key/value lists as objects, key lists as arrays of text. */
export type ConfigJson = Record<string, unknown>

const keyValueFields = ['environment', 'capabilities', 'dockerLabels', 'extraLBAnnotations'] as const
const keyFields = ['networks', 'customHeaders', 'commands', 'args'] as const
/** Not shown: values of secrets are for the node alone, and metrics have no form in this text. */
const hidden = new Set(['secrets', 'metrics'])

export function configToJson(fields: ContainerConfigFields): ConfigJson {
  const json: ConfigJson = {}
  for (const name of containerConfigFieldNames) {
    const value = fields[name]
    if (hidden.has(name) || value === null || value === undefined) continue
    json[name] = toJson(name, value)
  }
  return json
}

export type ParsedConfigJson =
  | { ok: true; patch: Partial<ContainerConfigFields> }
  | { ok: false; property: string | undefined; description: string }

/**
 * Reads the text of the JSON tab against the present fields.
 *
 * @param options.newId gives ids to rows that are new; rows with a known key keep theirs
 * @param options.base whether this is a base layer, where `secrets: [{key, required}]` is accepted
 * @returns what to send: changed fields alone, null for those that were taken out of the text
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
    return { ok: false, property: undefined, description: `This is no JSON: ${(cause as Error).message}` }
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { ok: false, property: undefined, description: 'Write one object: { "name": "web" }' }
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    if (!(containerConfigFieldNames as string[]).includes(name))
      return { ok: false, property: name, description: `${name} is no setting` }
    if (name === 'secrets' && !options.base)
      return { ok: false, property: name, description: 'Set secrets in the form' }
    given[name] = fromJson(name, value)
  }
  const parsed = ContainerConfigFields.safeParse(given)
  if (!parsed.success) {
    const [first] = invalidArgument(parsed.error).details ?? []
    return { ok: false, property: first?.property, description: first?.description ?? 'A value is not valid' }
  }
  const filled = fillRowIds(parsed.data, current, options.newId)
  const patch: Record<string, unknown> = {}
  for (const name of containerConfigFieldNames) {
    if (hidden.has(name) && !(name in given)) continue
    const next = filled[name] ?? null
    if (!sameValue(next, current[name])) patch[name] = next
  }
  return { ok: true, patch: patch as Partial<ContainerConfigFields> }
}

function toJson(name: string, value: unknown): unknown {
  if (isOneOf(keyValueFields, name)) return toObject(value)
  if (isOneOf(keyFields, name)) return toTexts(value)
  if (name === 'labels' || name === 'annotations') return inSections(value, toObject)
  if (name === 'logConfig') return mapped(value, { options: toObject })
  if (name === 'initContainers')
    return (value as unknown[]).map((row) =>
      mapped(row, { command: toTexts, args: toTexts, environment: toObject, volumes: withoutRowIds }),
    )
  return Array.isArray(value) ? withoutRowIds(value) : value
}

function fromJson(name: string, value: unknown): unknown {
  if (isOneOf(keyValueFields, name)) return toRows(value)
  if (isOneOf(keyFields, name)) return toKeyRows(value)
  if (name === 'labels' || name === 'annotations') return inSections(value, toRows)
  if (name === 'logConfig') return mapped(value, { options: toRows })
  if (name === 'initContainers' && Array.isArray(value))
    return value.map((row) => mapped(row, { command: toKeyRows, args: toKeyRows, environment: toRows }))
  return value
}

type KeyValue = { key: string; value: unknown }
const toObject = (rows: unknown): unknown =>
  Array.isArray(rows) ? Object.fromEntries((rows as KeyValue[]).map((row) => [row.key, row.value])) : rows
const toTexts = (rows: unknown): unknown => (Array.isArray(rows) ? (rows as KeyValue[]).map((row) => row.key) : rows)
const withoutRowIds = (rows: unknown): unknown =>
  Array.isArray(rows) ? rows.map(({ id: _, ...row }: { id?: string }) => row) : rows
/** Numbers and booleans are what people type for values; everything else is left for the schema to refuse. */
const toText = (value: unknown) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value)
const toRows = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([key, inner]) => ({ key, value: toText(inner) }))
    : value
const toKeyRows = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((key) => (typeof key === 'string' ? { key } : key)) : value

function inSections(value: unknown, convert: (rows: unknown) => unknown): unknown {
  return mapped(value, Object.fromEntries(markerSections.map((section) => [section, convert])))
}

/** The object with some of its properties converted, and without its own row id. */
function mapped(value: unknown, converters: Record<string, (inner: unknown) => unknown>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== 'id' && inner !== undefined)
      .map(([name, inner]) => [name, converters[name]?.(inner) ?? inner]),
  )
}

const isOneOf = (names: readonly string[], name: string) => names.includes(name)
