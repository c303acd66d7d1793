/** The part of JSON Schema (2020-12) that the hints of the JSON editor support: the output of `z.toJSONSchema`. */
export type JsonSchema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema | boolean>
  patternProperties?: Record<string, JsonSchema | boolean>
  additionalProperties?: JsonSchema | boolean
  propertyNames?: JsonSchema | boolean
  items?: JsonSchema | boolean
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly (JsonSchema | boolean)[]
  oneOf?: readonly (JsonSchema | boolean)[]
  allOf?: readonly (JsonSchema | boolean)[]
  $ref?: string
  $defs?: Record<string, JsonSchema | boolean>
  default?: unknown
  examples?: readonly unknown[]
}
export type JsonPath = readonly (string | number)[]
/** `insert` is JSON: a name with its quotes, a value as it is written. */
export type Hint = { insert: string; detail?: string; description?: string }

/** All schemas for a position, with alternatives and references resolved. */
export function schemasAt(root: JsonSchema, path: JsonPath): JsonSchema[] {
  return path.reduce<JsonSchema[]>(
    (schemas, step) => schemas.flatMap((schema) => stepInto(root, schema, step)),
    alternatives(root, root),
  )
}

/** Names that an object at this position may have, without those that it has. */
export function propertyHints(root: JsonSchema, path: JsonPath, present: ReadonlySet<string>): Hint[] {
  const found = new Map<string, Hint>()
  for (const schema of schemasAt(root, path)) {
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
      if (present.has(name) || found.has(name)) continue
      const [first, ...others] = alternatives(root, inner)
      found.set(name, {
        insert: JSON.stringify(name),
        detail: typeLabels(root, inner),
        description: described(inner) ?? [first, ...others].map(described).find(Boolean),
      })
    }
    for (const names of schema.propertyNames ? alternatives(root, schema.propertyNames) : [])
      for (const name of names.enum ?? [])
        if (typeof name === 'string' && !present.has(name) && !found.has(name))
          found.set(name, { insert: JSON.stringify(name) })
  }
  return [...found.values()]
}

/** Values that a place may have, where there are few. */
export function valueHints(root: JsonSchema, path: JsonPath): Hint[] {
  const found = new Map<string, Hint>()
  const add = (value: unknown, description: string | undefined, detail?: string) => {
    const insert = JSON.stringify(value)
    if (insert !== undefined && !found.has(insert)) found.set(insert, { insert, description, detail })
  }
  for (const schema of schemasAt(root, path)) {
    if (schema.const !== undefined) add(schema.const, schema.description)
    for (const value of schema.enum ?? []) add(value, schema.description)
    if (schema.type === 'boolean') for (const value of [true, false]) add(value, schema.description)
    for (const value of schema.examples ?? []) add(value, schema.description, 'example')
    if (schema.type === 'object' && !schema.enum) add({}, schema.description)
    if (schema.type === 'array') add([], schema.description)
  }
  return [...found.values()]
}

/** The description of a position, shown on hover. */
export function descriptionAt(root: JsonSchema, path: JsonPath): string | undefined {
  const name = path.at(-1)
  const parents = schemasAt(root, path.slice(0, -1))
  const own = parents.map((schema) => described(schema.properties?.[String(name)])).find(Boolean)
  return own ?? schemasAt(root, path).map(described).find(Boolean)
}

const described = (schema: JsonSchema | boolean | undefined): string | undefined =>
  typeof schema === 'object' ? schema.description : undefined

function stepInto(root: JsonSchema, schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') return alternatives(root, schema.items)
  const own = schema.properties?.[step]
  if (own !== undefined) return alternatives(root, own)
  const pattern = Object.entries(schema.patternProperties ?? {}).find(([source]) => new RegExp(source).test(step))
  return alternatives(root, pattern?.[1] ?? schema.additionalProperties)
}

/** A schema with its references and all of its alternatives. */
function alternatives(root: JsonSchema, schema: JsonSchema | boolean | undefined, depth = 0): JsonSchema[] {
  if (typeof schema !== 'object' || depth > 12) return []
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema
  const referred = $ref?.startsWith('#/$defs/') ? [root.$defs?.[$ref.slice('#/$defs/'.length)]] : []
  const inner = [...referred, ...anyOf, ...oneOf, ...allOf].flatMap((one) => alternatives(root, one, depth + 1))
  return inner.length > 0 ? [schema, ...inner] : [schema]
}

function typeLabels(root: JsonSchema, schema: JsonSchema | boolean): string | undefined {
  const types = alternatives(root, schema).flatMap((one) => one.type ?? [])
  return [...new Set(types)].filter((type) => type !== 'null').join(' | ') || undefined
}
