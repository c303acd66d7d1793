import { CruxError, detailsMax, type EndpointSpec, type ErrorDetail, invalidArgument } from '@crux/contract'
import { readConfigInput } from '@crux/rules'
import type { z } from 'zod'

type Spec = Pick<EndpointSpec, 'configInput'>

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
  if (configInput === 'images') return parse(schema, withReadImages(value))
  return parse(schema, configInput ? withReadConfig(value) : value)
}

function withReadConfig(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.config)) return value
  const read = readConfigInput(value.config, { mayBeUnfinished: value.revision === undefined })
  if (!read.ok) {
    const details = read.problems.map((problem) => ({ ...problem, property: `config.${problem.property}` }))
    throw refuseInput(details)
  }
  const typing = { ...(isObject(value.typing) ? value.typing : {}), ...read.typing }
  return { ...value, config: read.config, ...(Object.keys(typing).length > 0 && { typing }) }
}

/** All images are read before the first problem is reported. Nothing in an import is still being typed. */
function withReadImages(value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value.images)) return value
  const problems: ErrorDetail[] = []
  const images = value.images.map((image: unknown, index) => {
    if (!isObject(image) || !isObject(image.config) || problems.length >= detailsMax) return image
    const read = readConfigInput(image.config, { mayBeUnfinished: false })
    if (read.ok) return { ...image, config: read.config }
    for (const problem of read.problems)
      problems.push({ ...problem, property: `images[${index}].config.${problem.property}` })
    return image
  })
  if (problems.length > 0) throw refuseInput(problems.slice(0, detailsMax))
  return { ...value, images }
}

const refuseInput = (details: ErrorDetail[]) =>
  new CruxError('invalidArgument', {
    property: details[0]?.property,
    description: details[0]?.description,
    details,
  })

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
