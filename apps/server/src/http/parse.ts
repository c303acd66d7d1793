import { CruxError, invalidArgument } from '@crux/contract'
import { readConfigInput } from '@crux/rules'
import type { z } from 'zod'

type Spec = { configInput?: true | undefined }

/** @throws CruxError invalidArgument with a sentence per problem */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidArgument(result.error)
}

/**
 * Parses the input of an endpoint or a live message. A configuration in it is normalised to the schema first, because
 * clients without revisions send lists with incomplete rows.
 */
export function parseInput<S extends z.ZodType>({ configInput }: Spec, schema: S, value: unknown): z.output<S> {
  return parse(schema, configInput ? withReadConfig(value) : value)
}

function withReadConfig(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.config)) return value
  const read = readConfigInput(value.config, { mayBeUnfinished: value.revision === undefined })
  if (!read.ok) {
    const details = read.problems.map((problem) => ({ ...problem, property: `config.${problem.property}` }))
    throw new CruxError('invalidArgument', {
      property: details[0]?.property,
      description: details[0]?.description,
      details,
    })
  }
  const typing = { ...(isObject(value.typing) ? value.typing : {}), ...read.typing }
  return { ...value, config: read.config, ...(Object.keys(typing).length > 0 && { typing }) }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
