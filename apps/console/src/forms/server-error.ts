import type { ApiError } from '@crux/client'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { describeError } from '../errors/describe-error.ts'

type FieldError<V extends FieldValues> = { field: Path<V>; message: string }

/** The fields that an error names, each with its message. Where there are none, the form's banner shows the error. */
export function locateFieldErrors<V extends FieldValues>(
  error: ApiError,
  values: V,
  names: Record<string, string> = {},
): FieldError<V>[] {
  const findings = [{ property: error.property, description: describeError(error).text }, ...error.details.slice(1)]
  return findings.flatMap(({ property, description }) => {
    const field = property === undefined ? undefined : findField(property, names, values)
    return field === undefined ? [] : [{ field, message: withoutProperty(description, property) }]
  })
}

/** Shows the errors at their fields and focuses the first. A newer error replaces an older one of the same field. */
export function showFieldErrors<V extends FieldValues, Out>(
  form: UseFormReturn<V, unknown, Out>,
  errors: readonly FieldError<V>[],
): void {
  for (const [index, { field, message }] of errors.entries())
    form.setError(field, { type: 'server', message }, { shouldFocus: index === 0 })
}

/** The form's field for a property: by the given name, by itself, or without its leading parts (`details.url` -> `url`). */
function findField<V extends FieldValues>(
  property: string,
  names: Record<string, string>,
  values: V,
): Path<V> | undefined {
  const last = property.slice(property.lastIndexOf('.') + 1)
  return [names[property] ?? property, last].find((path) => isField(values, path))
}

/** Validation errors repeat the property's path in front; at the field it is redundant. */
const withoutProperty = (text: string, property: string | undefined) =>
  property !== undefined && text.startsWith(`${property}: `) ? text.slice(property.length + 2) : text

function isField<V extends FieldValues>(values: V, path: string): path is Path<V> & string {
  let inner: unknown = values
  for (const part of path.split('.')) {
    if (typeof inner !== 'object' || inner === null || !(part in inner)) return false
    inner = Reflect.get(inner, part)
  }
  return true
}
