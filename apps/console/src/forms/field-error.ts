/**
 * The message of a field's error. A field whose text becomes a list, such as names with commas between them, has one error for each entry:
 * the first of them is shown.
 */
export function findErrorMessage(error: unknown): string | undefined {
  if (Array.isArray(error)) return error.map(findErrorMessage).find((message) => message !== undefined)
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
    ? error.message
    : undefined
}
