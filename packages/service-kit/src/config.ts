import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { errorCode } from './errors.ts'

/** A setting with which the process cannot start. The message is one line: variable, problem, example. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly variable: string

  constructor(variable: string, problem: string, example?: unknown) {
    super(`${variable} ${problem}${example === undefined ? '' : ` (example: ${variable}=${String(example)})`}`)
    this.variable = variable
  }
}

/**
 * Reads the settings of a schema from the environment. Each setting X can be given as X or as X_FILE, the path of a file whose content, without a
 * trailing newline, is the value. An empty X counts as absent, because compose files write it this way.
 *
 * Examples for messages come from `.meta({ example })` of a field. Values never appear in messages, because they may be secret.
 *
 * @throws ConfigError for the first bad setting, in the order of the schema
 */
export function parseConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const input: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = readSetting(name, env, renderExample(schema.shape[name]))
    if (value !== undefined) input[name] = value
  }
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const name = String(issue?.path[0] ?? 'configuration')
  const problem =
    issue && issue.path.length > 0 && !(name in input) ? 'is required and missing' : findProblem(issue?.message)
  throw new ConfigError(name, problem, renderExample(schema.shape[name]))
}

function readSetting(name: string, env: NodeJS.ProcessEnv, example: unknown): string | undefined {
  const direct = env[name] || undefined
  const file = env[`${name}_FILE`] || undefined
  if (direct !== undefined && file !== undefined)
    throw new ConfigError(name, `is set together with ${name}_FILE; keep one`)
  if (file === undefined) return direct
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined
  } catch (cause) {
    const reason = errorCode(cause) || 'unknown error'
    throw new ConfigError(
      `${name}_FILE`,
      `names a file that cannot be read: ${reason}`,
      example && `/run/secrets/${name}`,
    )
  }
}

function findProblem(message: string | undefined): string {
  return `is not valid: ${(message ?? 'invalid').replace(/\s+/g, ' ').replace(/^Invalid input: /, '')}`
}

/** The example may be below wrappers such as `.default()` and `.optional()`, which do not inherit the meta of their inner type. */
function renderExample(field: unknown): unknown {
  if (!(field instanceof z.ZodType)) return undefined
  const { def } = field
  return field.meta()?.example ?? renderExample('innerType' in def ? def.innerType : 'in' in def ? def.in : undefined)
}
