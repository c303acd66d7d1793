import type { Traits } from '../db/schema.ts'
import { isObject } from '../http/body.ts'
import { type Message, messages } from '../ui/messages.ts'
import { addMessage } from '../ui/nodes.ts'
import { type TraitSchema, traitsSchema } from './identity-schema.ts'

/** Like the e-mail inputs of HTML, but with letters of all scripts, and with the length limit of mail servers. */
const emailShape =
  /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)*$/u

export function isEmail(value: string): boolean {
  return value.length <= 254 && emailShape.test(value)
}

/** Validates traits against the schema. Messages are reported per field (`traits.email`); an empty map means valid. */
export function checkTraits(traits: unknown): Map<string, Message[]> {
  const found = new Map<string, Message[]>()
  check('traits', traits, traitsSchema, found)
  return found
}

/** The problem in one line, for clients of the admin API. */
export function traitsProblem(traits: unknown): string | undefined {
  const problems = [...checkTraits(traits)].flatMap(([field, list]) => list.map(({ text }) => `${field}: ${text}`))
  return problems.length === 0 ? undefined : problems.join(' ')
}

/** The traits that a user submitted; omitted groups are empty. */
export function submittedTraits(fields: unknown): unknown {
  return fields !== undefined && !isObject(fields) ? fields : completeTraits({ ...fields })
}

/** Adds the groups that are missing, empty. */
export function completeTraits(traits: Traits): Traits {
  for (const [name, schema] of Object.entries(traitsSchema.properties ?? {}))
    if (schema.type === 'object') traits[name] ??= {}
  return traits
}

export function getEmail(traits: Traits): string {
  return typeof traits.email === 'string' ? traits.email : ''
}

/** The leaves of the schema as form fields, in the order of the schema. */
export function traitFields(): { name: string; schema: TraitSchema; required: boolean }[] {
  return leaves('traits', traitsSchema)
}

export function traitAt(traits: unknown, field: string): unknown {
  let value: unknown = { traits }
  for (const part of field.split('.')) value = isObject(value) ? value[part] : undefined
  return value
}

function leaves(path: string, schema: TraitSchema): { name: string; schema: TraitSchema; required: boolean }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.type === 'object'
      ? leaves(`${path}.${name}`, inner)
      : [{ name: `${path}.${name}`, schema: inner, required: schema.required?.includes(name) ?? false }],
  )
}

function check(path: string, value: unknown, schema: TraitSchema, found: Map<string, Message[]>): void {
  const actual = getType(value)
  if (actual !== schema.type) {
    addMessage(found, path, messages.wrongType(schema.type, actual))
    return
  }
  if (typeof value === 'string') {
    checkText(path, value, schema, found)
    return
  }
  const traits = isObject(value) ? value : {}
  for (const name of schema.required ?? [])
    if (traits[name] === undefined) addMessage(found, `${path}.${name}`, messages.required(name))
  for (const [name, inner] of Object.entries(traits)) {
    const innerSchema = schema.properties?.[name]
    if (innerSchema) check(`${path}.${name}`, inner, innerSchema, found)
    else if (schema.additionalProperties === false)
      addMessage(found, path, messages.generic(`additionalProperties "${name}" not allowed`))
  }
}

function checkText(path: string, value: string, schema: TraitSchema, found: Map<string, Message[]>): void {
  if (schema.format === 'email' && !isEmail(value)) addMessage(found, path, messages.invalidEmail(value))
  const length = [...value].length
  if (schema.minLength !== undefined && length < schema.minLength)
    addMessage(found, path, messages.tooShort(schema.minLength, length))
  // The JSON of PostgreSQL cannot contain it.
  if (value.includes('\0')) addMessage(found, path, messages.generic('must not contain a null character'))
}

function getType(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
