import type { ApiError } from '@crux/client'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { describeError } from '../errors/describe-error.ts'

/**
 * Shows an error at the fields that it names and focuses the first. Returns whether there was such a field; otherwise the form's banner
 * shows it. A newer error replaces an older one of the same field.
 */
export function applyServerError<V extends FieldValues, Out>(
  form: UseFormReturn<V, unknown, Out>,
  error: ApiError,
  names: Record<string, string> = {},
  dry = false,
): boolean {
  const findings = [{ property: error.property, description: describeError(error).text }, ...error.details.slice(1)]
  let found = false
  for (const { property, description } of findings) {
    const field = property === undefined ? undefined : fieldOf(property, names, form.getValues())
    if (!field) continue
    if (!dry)
      form.setError(
        field as Path<V>,
        { type: 'server', message: withoutProperty(description, property) },
        { shouldFocus: !found },
      )
    found = true
  }
  return found
}

/** The form's field for a property: by the given name, by itself, or without its leading parts (`details.url` -> `url`). */
export function fieldOf(property: string, names: Record<string, string>, values: object): string | undefined {
  const direct = names[property] ?? property
  if (has(values, direct)) return direct
  const last = property.slice(property.lastIndexOf('.') + 1)
  return last !== property && has(values, last) ? last : undefined
}

/** Validation errors repeat the property's path in front; at the field it is redundant. */
const withoutProperty = (text: string, property: string | undefined) =>
  property !== undefined && text.startsWith(`${property}: `) ? text.slice(property.length + 2) : text

function has(values: object, path: string): boolean {
  let at: unknown = values
  for (const part of path.split('.')) {
    if (typeof at !== 'object' || at === null || !(part in at)) return false
    at = (at as Record<string, unknown>)[part]
  }
  return true
}
