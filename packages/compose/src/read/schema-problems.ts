import type { SchemaError } from '../generated/validator.js'
import type { ComposePath } from '../model.ts'
import { listSchemaKeys } from '../schema.ts'
import { limits } from './limits.ts'
import { findNearest } from './nearest.ts'

export type SchemaProblem = { path: ComposePath; message: string; isKey: boolean }

/**
 * What people need to know of the errors of the schema. A value with several allowed forms has errors for each form: those inside of the value
 * matter, and only if there are none, the value has none of the forms.
 *
 * @param base the path of the checked value
 */
export function describeSchemaErrors(
  errors: readonly SchemaError[],
  base: ComposePath,
  value: unknown,
): SchemaProblem[] {
  const byPath = Map.groupBy(errors, ({ instancePath }) => instancePath)
  const withInner = new Set<string>()
  for (const path of byPath.keys()) {
    const steps = path.split('/')
    for (let count = 1; count < steps.length; count += 1) withInner.add(steps.slice(0, count).join('/'))
  }
  const problems: SchemaProblem[] = []
  for (const [instancePath, found] of byPath) {
    // More are never shown, and each costs a search for the nearest key.
    if (problems.length >= limits.problems) break
    problems.push(...describePath(instancePath, found, withInner.has(instancePath), base, value))
  }
  return problems.slice(0, limits.problems)
}

function describePath(
  instancePath: string,
  found: readonly SchemaError[],
  hasInner: boolean,
  base: ComposePath,
  value: unknown,
): SchemaProblem[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [inner, steps] = findValue(value, path)
  const whole: ComposePath = [...base, ...steps]
  const specific = found.filter(({ keyword }) => !['type', 'oneOf', 'anyOf', 'allOf'].includes(keyword))
  const types = found.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type].flat() : []))
  if (specific.length > 0 && isRecord(inner)) return describeSpecific(specific, whole, inner)
  if (hasInner || types.length === 0) return describeSpecific(specific, whole, inner)
  return [{ path: whole, message: describeType(whole, types.map(String), inner), isKey: false }]
}

const isRecord = (value: unknown): value is { [key: string]: unknown } => typeof value === 'object' && value !== null

/** The value at a path, and the path with numbers where the value is a list. */
function findValue(value: unknown, path: readonly string[]): [unknown, (string | number)[]] {
  const steps: (string | number)[] = []
  let inner = value
  for (const step of path) {
    if (Array.isArray(inner)) {
      steps.push(Number(step))
      inner = inner[Number(step)]
    } else {
      steps.push(step)
      inner = isRecord(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined
    }
  }
  return [inner, steps]
}

function describeSpecific(errors: readonly SchemaError[], path: ComposePath, value: unknown): SchemaProblem[] {
  const messages = new Map<string, SchemaProblem>()
  for (const error of errors.slice(0, limits.problems)) {
    const problem = describeError(error, path, value)
    if (problem) messages.set(problem.message, problem)
  }
  return [...messages.values()]
}

function describeError(
  { keyword, params, message }: SchemaError,
  path: ComposePath,
  value: unknown,
): SchemaProblem | undefined {
  const name = nameValue(path)
  const make = (text: string) => ({ path, message: text, isKey: false })
  switch (keyword) {
    case 'additionalProperties':
      return describeUnknownKey(path, String(params.additionalProperty))
    case 'required':
      return make(`${name} needs the key "${params.missingProperty}". Add it.`)
    case 'enum': {
      const allowed = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : []
      const near = findNearest(String(value), allowed)
      return make(`${name} must be one of ${allowed.join(', ')}${near ? `: did you mean "${near}"?` : '.'}`)
    }
    case 'uniqueItems':
      return make(`${name} has the same entry twice: ${Number(params.j) + 1} and ${Number(params.i) + 1}. Remove one.`)
    case 'minimum':
    case 'maximum':
      return make(`${name} must be ${keyword === 'minimum' ? 'at least' : 'at most'} ${params.limit}.`)
    case 'pattern':
      return make(`${name} has a value that is not allowed: it must match ${params.pattern}.`)
    case 'oneOf':
    case 'anyOf':
    case 'allOf':
    case 'type':
      return undefined
    default:
      return make(`${name} ${message ?? 'is not allowed here'}.`)
  }
}

function describeUnknownKey(path: ComposePath, key: string): SchemaProblem {
  const at = [...path, key]
  const isName =
    path.length === 1 &&
    ['services', 'networks', 'volumes', 'secrets', 'configs', 'models', 'jobs'].includes(String(path[0]))
  if (isName)
    return {
      path: at,
      message: `The name "${key}" is not allowed. Use letters, digits, ".", "_" and "-" only.`,
      isKey: true,
    }
  const near = findNearest(key, listSchemaKeys(path))
  const advice = near ? `did you mean "${near}"?` : 'remove it, or let its name begin with "x-".'
  return { path: at, message: `The key "${key}" is unknown here: ${advice}`, isKey: true }
}

function describeType(path: ComposePath, types: readonly string[], value: unknown): string {
  const expected = [...new Set(types.map((type) => typeNames[type] ?? type))]
  const last = expected.pop() ?? ''
  const list = expected.length > 0 ? `${expected.join(', ')} or ${last}` : last
  const wantsText = types.includes('string')
  const isQuotable = wantsText && (typeof value === 'number' || typeof value === 'boolean')
  return `${nameValue(path)} must be ${list}, and here it is ${describeValue(value)}.${isQuotable ? ` Put quotes around it: "${value}".` : ''}`
}

const typeNames: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'empty',
  array: 'a list',
  object: 'a mapping',
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? `the text "${value.slice(0, 40)}"` : String(value)
}

/** The last key of the path; of an entry of a list, the list's key and the number of the entry from 1. */
function nameValue(path: ComposePath): string {
  const last = path.at(-1)
  if (last === undefined) return 'The file'
  if (typeof last !== 'number') return `"${last}"`
  const list = path.findLast((step) => typeof step === 'string')
  return `Entry ${last + 1} of "${list ?? ''}"`
}
