import { ContainerConfigFields, containerConfigFieldNames, invalidArgument, propertyPath } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { valueAt } from './json-record.ts'

/**
 * Checks that every value has the form that the contract requires.
 *
 * @returns the problems, and the fields whose rows can be checked further because all their values have the right type, though they may be out of
 * bounds
 */
export function checkShape(config: ContainerConfigFields): {
  problems: ConfigProblem[]
  readable: ContainerConfigFields
} {
  // The default name from an image may be one letter, which is valid after the prefix.
  const { name, ...rest } = config
  const parsed = ContainerConfigFields.safeParse(typeof name === 'string' && /^[a-z0-9]$/.test(name) ? rest : config)
  const problems = textProblems(config)
  if (parsed.success) return { problems, readable: config }
  const broken = new Set<unknown>()
  for (const issue of parsed.error.issues) {
    const isWord = oneOfSeveral.has(issue.code) && typeof valueAt(config, issue.path) === 'string'
    if (!keepsType.has(issue.code) && !isWord) broken.add(issue.path[0])
  }
  const readable = Object.fromEntries(Object.entries(config).filter(([field]) => !broken.has(field)))
  return { problems: [...(invalidArgument(parsed.error).details ?? []), ...problems], readable }
}

/** Issues about a value of the right type. */
const keepsType: ReadonlySet<string> = new Set(['too_small', 'too_big', 'invalid_format', 'not_multiple_of', 'custom'])

/** Issues about a text that is not one of the allowed ones, or about a value of another type. */
const oneOfSeveral: ReadonlySet<string> = new Set(['invalid_value', 'invalid_union'])

/** Engines and the database accept neither the character NUL nor a lone surrogate, in any text. */
function textProblems(config: ContainerConfigFields): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const look = (value: unknown, path: PropertyKey[]): void => {
    if (typeof value === 'string') {
      if (value.includes('\0')) found.push(problem(propertyPath(path), 'matches', 'Leave out the character NUL'))
      else if (!value.isWellFormed())
        found.push(problem(propertyPath(path), 'matches', 'A character here is cut in half: write the text again'))
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        look(inner, [...path, Array.isArray(value) ? Number(name) : name])
  }
  for (const field of containerConfigFieldNames) look(config[field], [field])
  return found
}
