import { isRecord } from '@crux/rules'
import { Document, isMap, isScalar, visit } from 'yaml'
import { cruxExtension } from '../convert/crux-extension.ts'
import { type ComposeRecord, toComposeRecord } from '../convert/values.ts'
import type { ComposeValue } from '../model.ts'

const comment = ` Exported from Crux. ${cruxExtension} has the settings that Compose does not have; they take precedence when the file is imported.`

/** Writes a compose file: texts are quoted where an older YAML would read something else, and `$` is escaped so that nothing is interpolated. */
export function toYaml(value: ComposeRecord): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false })
  if (Object.values(toComposeRecord(value.services)).some((service) => cruxExtension in toComposeRecord(service)))
    document.commentBefore = comment
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key' && typeof node.value === 'string') node.value = node.value.replaceAll('$', '$$$$')
    },
  })
  separate(document.contents)
  separate(isMap(document.contents) ? document.contents.get('services', true) : undefined)
  return document.toString({ lineWidth: 0, nullStr: '' })
}

/** Adds an empty line before each member but the first. */
function separate(node: unknown): void {
  if (!isMap(node)) return
  for (const { key } of node.items.slice(1)) if (isScalar(key)) key.spaceBefore = true
}

/** JSON as a value of YAML; what JSON does not have becomes null. */
export function toComposeValue(value: unknown): ComposeValue {
  if (Array.isArray(value)) return value.map(toComposeValue)
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, toComposeValue(inner)]])),
    )
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
