import { ContainerConfigFields } from '@crux/contract'
import { z } from 'zod'
import { configDescriptions, configExamples } from './config-descriptions.ts'
import { isRecord } from './json-record.ts'

/** The part of JSON Schema, draft 2020-12, that is used here. */
export type JsonSchema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  propertyNames?: JsonSchema
  items?: JsonSchema
  required?: string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly JsonSchema[]
  examples?: readonly unknown[]
} & { [keyword: string]: unknown }

/**
 * The schema of the JSON tab: the fields of the contract in the form that `configToJson` writes and `configFromJson` reads, including shorthands,
 * with a description of every setting.
 *
 * @param options.base a base layer contains keys of secrets; other layers have no secrets in the text
 */
export function configJsonSchema({ base = false }: { base?: boolean } = {}): JsonSchema {
  const { properties = {} } = z.toJSONSchema(ContainerConfigFields, { io: 'input', unrepresentable: 'any' })
  const fields = Object.entries(properties).flatMap(([name, schema]) =>
    isSchema(schema) && (base || name !== 'secrets')
      ? [[name, described(withShorthand(name, inJson(schema)), name)]]
      : [],
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: Object.fromEntries(fields),
    additionalProperties: false,
  }
}

/** A schema may also be `true` or `false`; those of the contract never are. */
const isSchema = (schema: unknown): schema is JsonSchema => isRecord(schema)

/** Lists of rows in the form of the text: by key, or as plain texts; other rows without their ids. */
function inJson(schema: JsonSchema): JsonSchema {
  if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map(inJson) }
  if (schema.items) return listInJson(schema, schema.items)
  if (!schema.properties) return schema
  const { id: _, ...properties } = schema.properties
  return { ...schema, properties: mapValues(properties, inJson) }
}

function listInJson(list: JsonSchema, row: JsonSchema): JsonSchema {
  const { id: _, key, value, ...others } = row.properties ?? {}
  if (!key) return { ...list, items: inJson(row) }
  const names = Object.keys(others)
  // For secrets, only the keys are shown.
  const { required, generate } = others
  if (required && generate)
    return { ...list, items: { ...row, properties: { key, required, generate }, required: ['key'] } }
  if (value) return byKey(key, { anyOf: [...(value.anyOf ?? [value]), { type: 'number' }, { type: 'boolean' }] })
  if (names.length === 0) return { ...list, items: key }
  return byKey(key, {
    anyOf: [{ ...row, properties: others, required: names }, text, { type: 'integer', minimum: -1 }],
  })
}

const text: JsonSchema = { type: 'string' }
const byKey = (key: JsonSchema, value: JsonSchema): JsonSchema => ({
  type: 'object',
  propertyNames: key,
  additionalProperties: value,
})

/** Rows that can also be written as one text. */
function withShorthand(name: string, schema: JsonSchema): JsonSchema {
  if (name !== 'ports' && name !== 'portRanges' && name !== 'volumes') return schema
  const list = (one: JsonSchema): JsonSchema => (one.items ? { ...one, items: { anyOf: [text, one.items] } } : one)
  return { ...schema, anyOf: schema.anyOf?.map(list) }
}

/** Adds the descriptions and examples of the setting and its members. */
function described(schema: JsonSchema, path: string): JsonSchema {
  const description = configDescriptions[path]
  const examples = configExamples[path]
  const inner: JsonSchema = {
    ...schema,
    ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => withParts(one, path)) }),
  }
  return { ...withParts(inner, path), ...(description && { description }), ...(examples && { examples }) }
}

function withParts(schema: JsonSchema, path: string): JsonSchema {
  return {
    ...schema,
    ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => withParts(one, path)) }),
    ...(schema.items && { items: withParts(schema.items, path) }),
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, inner]) => [name, described(inner, `${path}.${name}`)]),
      ),
    }),
  }
}

const mapValues = (record: Record<string, JsonSchema>, change: (schema: JsonSchema) => JsonSchema) =>
  Object.fromEntries(Object.entries(record).map(([name, schema]) => [name, change(schema)]))
