import { ContainerConfigFields } from '@crux/contract'
import { validateConfig } from '@crux/rules'
import type { ComposePath } from '../model.ts'
import { formatPropertyPath, parsePropertyPath } from './property-path.ts'
import type { ServiceContext } from './service-context.ts'

/**
 * Validates the configuration with the rules of the server and reports each problem where its value was written.
 *
 * @returns the configuration as the contract parses it; undefined if it has a problem
 */
export function checkConfig(context: ServiceContext): ContainerConfigFields | undefined {
  const problems = validateConfig(context.config)
  for (const { property, description } of problems) context.error(findOrigin(context, property), description)
  const parsed = problems.length === 0 ? ContainerConfigFields.safeParse(context.config) : undefined
  return parsed?.data
}

/** The place of a property, or of the nearest one around it whose place is known. */
function findOrigin(context: ServiceContext, property: string): ComposePath {
  const parts = parsePropertyPath(property)
  for (let length = parts.length; length > 0; length -= 1) {
    const origin = context.origins.get(formatPropertyPath(parts.slice(0, length)))
    if (origin) return origin
  }
  return []
}
