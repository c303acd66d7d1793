import fastJson from 'fast-json-stringify'
import { z } from 'zod'

type JsonSchema = { [key: string]: unknown }
type Writer = (value: unknown) => string

const writers = new WeakMap<z.ZodType, Writer>()

/**
 * The serialiser of an answer or a message; it drops undeclared fields. It is compiled at its first use, because a
 * start needs none of them.
 */
export function writerOf(schema: z.ZodType): Writer {
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
  const schema = z.toJSONSchema(response, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    cycles: 'throw',
    reused: 'inline',
  }) as JsonSchema
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
  const choices = schema.anyOf as JsonSchema[] | undefined
  if (choices) {
    const all = choices.flatMap(flattened)
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
    if (key === 'properties') copy.properties = mapValues(value as Record<string, JsonSchema>, simplify)
    else if (key === 'items' && Array.isArray(value)) copy.items = value.map(simplify)
    else if ((key === 'items' || key === 'additionalProperties') && typeof value === 'object' && value !== null)
      copy[key] = simplify(value as JsonSchema)
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
  Array.isArray(schema.anyOf) ? (schema.anyOf as JsonSchema[]).flatMap(flattened) : [schema]

function mapValues<T, R>(object: Record<string, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}
