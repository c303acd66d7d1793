import { validateRoot, validateService } from '../generated/validator.js'
import type { ComposePath } from '../model.ts'
import { limits } from './limits.ts'
import {
  createScalar,
  findKeyPosition,
  findPosition,
  getEntry,
  type MapNode,
  mapEntries,
  toRecord,
  toValue,
  withEntry,
} from './nodes.ts'
import type { ProblemList } from './problems.ts'
import { describeSchemaErrors } from './schema-problems.ts'

/** Checks a document by the schema of the Compose Specification: each service by itself, and then the rest. */
export function checkSchema(root: MapNode, problems: ProblemList): void {
  let described = 0
  const check = (validate: typeof validateRoot, value: unknown, base: ComposePath) => {
    if (validate(value)) return
    if (described >= limits.problems) {
      // Descriptions are expensive, and more are not shown.
      problems.error(findPosition(root, base), base, 'This service has errors too. Correct the others first.')
      return
    }
    for (const { path, message, isKey } of describeSchemaErrors(validate.errors ?? [], base, value)) {
      const position = isKey ? findKeyPosition(root, path) : findPosition(root, path)
      problems.error(position, path, message)
      described += 1
    }
  }
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') {
    check(validateRoot, toRecord(root), [])
    return
  }
  const names = mapEntries(services, ({ position }) => createScalar(position, null))
  check(validateRoot, toRecord(withEntry(root, 'services', names)), [])
  for (const [name, { node }] of services.entries) check(validateService, toValue(node), ['services', name])
}
