import schema from '../schema/compose-spec.json' with { type: 'json' }
import type { ComposePath } from './model.ts'

/** What the schema says about a place in a compose file, for completion and hover in an editor. */
export type ComposePathDescription = {
  description?: string
  /** Keys that may stand here, if a mapping may. */
  keys?: { name: string; description?: string; deprecated: boolean }[]
  /** Values that may stand here, if only some may. */
  values?: string[]
}

type Schema = { [key: string]: unknown }

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const root: Schema = schema
const definitions: Schema = schema.$defs

/** The description of a path; undefined for a path that the schema does not know. */
export function describeComposePath(path: ComposePath): ComposePathDescription | undefined {
  const found = findSchemas(path)
  if (found.length === 0) return undefined
  const forms = found.flatMap(expand)
  const description = [...found, ...forms].map(getDescription).find((text) => text !== undefined)
  const keys = listKeys(forms)
  const values = forms.flatMap(listValues)
  return {
    ...(description !== undefined && { description }),
    ...(keys.length > 0 && { keys }),
    ...(values.length > 0 && { values: [...new Set(values)] }),
  }
}

/** The names of keys that may stand at a path. */
export function listSchemaKeys(path: ComposePath): string[] {
  return listKeys(findSchemas(path).flatMap(expand)).map(({ name }) => name)
}

function findSchemas(path: ComposePath): Schema[] {
  let found = [root]
  for (const step of path) found = found.flatMap(expand).flatMap((form) => getChild(form, step))
  return found
}

/** A schema as the alternatives that it stands for: references are followed, and the parts of `oneOf`, `anyOf` and `allOf` are listed. */
function expand(schema: Schema): Schema[] {
  const reference = typeof schema.$ref === 'string' ? definitions[schema.$ref.replace('#/$defs/', '')] : undefined
  const parts = [reference, schema.oneOf, schema.anyOf, schema.allOf].flat().filter(isSchema)
  return [schema, ...parts.flatMap(expand)]
}

function getChild(schema: Schema, step: string | number): Schema[] {
  if (typeof step === 'number') return [schema.items].filter(isSchema)
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const own = Object.hasOwn(properties, step) ? properties[step] : undefined
  if (isSchema(own)) return [own]
  const patterns = isSchema(schema.patternProperties) ? schema.patternProperties : {}
  return Object.entries(patterns).flatMap(([pattern, inner]) =>
    new RegExp(pattern, 'u').test(step) && isSchema(inner) ? [inner] : [],
  )
}

const getDescription = ({ description }: Schema) => (typeof description === 'string' ? description : undefined)

function listKeys(forms: readonly Schema[]): NonNullable<ComposePathDescription['keys']> {
  const keys = new Map<string, { name: string; description?: string; deprecated: boolean }>()
  for (const { properties } of forms) {
    if (!isSchema(properties)) continue
    for (const [name, property] of Object.entries(properties)) {
      if (!isSchema(property) || keys.has(name)) continue
      const all = expand(property)
      const description = all.map(getDescription).find((text) => text !== undefined)
      keys.set(name, { name, ...(description && { description }), deprecated: property.deprecated === true })
    }
  }
  return [...keys.values()]
}

function listValues(form: Schema): string[] {
  if (Array.isArray(form.enum)) return form.enum.map(String)
  return form.type === 'boolean' ? ['true', 'false'] : []
}
