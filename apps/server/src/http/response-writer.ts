import fastJson from 'fast-json-stringify'
import { z } from 'zod'

type JsonSchema = { [key: string]: unknown }
type Writer = (value: unknown) => string

const writers = new WeakMap<z.ZodType, Writer>()

/**
 * The serialiser of an answer or a message; it drops undeclared fields. It is compiled at its first use, because a
 * start needs none of them.
 */
export function createWriter(schema: z.ZodType): Writer {
  let write = writers.get(schema)
  if (!write) {
    write = fastJson(responseSchema(schema))
    writers.set(schema, write)
  }
  return write
}

/**
 * The structure of an answer for the compiled serialiser. Formats and patterns are left out (they would be checked or
 * rewritten on every answer), and `X or null` becomes a nullable X, which needs no trial.
 */
function responseSchema(response: z.ZodType): JsonSchema {
  const schema: JsonSchema = z.toJSONSchema(response, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    cycles: 'throw',
    reused: 'inline',
  })
  return simplify(schema)
}

const leftOut = new Set([
  '$schema',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'propertyNames',
  'default',
  'enum',
  'description',
])

function simplify(schema: JsonSchema): JsonSchema {
  if (isList(schema.anyOf)) {
    const all = schema.anyOf.flatMap(flattened)
    const real = all.filter((choice) => choice.type !== 'null').map(simplify)
    const nullable = real.length < all.length
    const [first] = real
    // Strings are serialised alike, whatever the constraints of each choice are.
    const only = real.every((choice) => choice.type === first?.type && plain.has(String(choice.type)))
      ? first && { type: first.type }
      : first
    const same = only && (only !== first || real.every((choice) => JSON.stringify(choice) === JSON.stringify(only)))
    if (same) return nullable && Object.keys(only).length > 0 ? { ...only, nullable: true } : only
    return { anyOf: nullable ? [...real, { type: 'null' }] : real }
  }
  const copy: JsonSchema = {}
  for (const [key, value] of Object.entries(schema)) {
    if (leftOut.has(key)) continue
    if (key === 'properties' && isSchema(value))
      copy.properties = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, isSchema(inner) ? simplify(inner) : inner]),
      )
    else if (key === 'items' && isList(value)) copy.items = value.map(simplify)
    else if ((key === 'items' || key === 'additionalProperties') && isSchema(value)) copy[key] = simplify(value)
    else copy[key] = value
  }
  // A number keeps an integer of any size; the serialiser's own integer would round a fraction instead of failing a
  // test.
  if (copy.type === 'integer') copy.type = 'number'
  return copy
}

const plain = new Set(['string', 'number', 'boolean'])

/** The choices of a nested choice: `nullable` can only be combined with a type, never with another choice. */
const flattened = (schema: JsonSchema): JsonSchema[] =>
  isList(schema.anyOf) ? schema.anyOf.flatMap(flattened) : [schema]

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null
const isList = (value: unknown): value is JsonSchema[] => Array.isArray(value)
