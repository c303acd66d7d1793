import { ContainerConfigFields, containerConfigFieldNames, invalidArgument } from '@crux/contract'
import { isRecord, readConfigInput } from '@crux/rules'
import { parsePropertyPath } from './property-path.ts'
import type { ServiceContext } from './service-context.ts'

/** The key of a service for settings that Compose does not have. */
export const cruxExtension = 'x-crux'

/**
 * Applies the settings of `x-crux`, which take precedence over the other keys of the service. They are written as in the JSON of a configuration, and
 * null removes a setting.
 */
export function applyCruxExtension(context: ServiceContext): void {
  const given = context.get(cruxExtension)
  if (given === undefined || given === null) return
  if (!isRecord(given)) {
    context.error([cruxExtension], 'Write settings of a configuration: x-crux: { expose: none }')
    return
  }
  const input = readConfigInput(given, { mayBeUnfinished: false })
  const parsed = input.ok ? ContainerConfigFields.safeParse(input.config) : undefined
  const problems = input.ok ? (parsed?.error ? (invalidArgument(parsed.error).details ?? []) : []) : input.problems
  for (const { property, description } of problems)
    context.error([cruxExtension, ...parsePropertyPath(property)], description)
  if (!parsed?.success) return
  for (const property of [...context.origins.keys()])
    if (Object.hasOwn(given, String(parsePropertyPath(property)[0]))) context.origins.delete(property)
  for (const field of containerConfigFieldNames) {
    if (!Object.hasOwn(given, field)) continue
    context.origins.set(field, [cruxExtension, field])
    if (parsed.data[field] === null || parsed.data[field] === undefined) delete context.config[field]
    else Object.assign(context.config, { [field]: parsed.data[field] })
  }
}
