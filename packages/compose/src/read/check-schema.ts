import { validateRoot, validateService } from '../generated/validator.js'
import type { ComposePath } from '../model.ts'
import { findKeyPosition, findPosition, getEntry, type MapNode, toRecord, toValue } from './nodes.ts'
import type { ProblemList } from './problems.ts'
import { describeSchemaErrors } from './schema-problems.ts'

/** Checks a document by the schema of the Compose Specification: each service by itself, and then the rest. */
export function checkSchema(root: MapNode, problems: ProblemList): void {
  const check = (validate: typeof validateRoot, value: unknown, base: ComposePath) => {
    if (validate(value)) return
    for (const { path, message, isKey } of describeSchemaErrors(validate.errors ?? [], base, value)) {
      const position = isKey ? findKeyPosition(root, path) : findPosition(root, path)
      problems.error(position, path, message)
    }
  }
  check(validateRoot, toRecord(root), [])
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') return
  for (const [name, { node }] of services.entries) check(validateService, toValue(node), ['services', name])
}
