/** A property of a value of unknown type, such as the `code` of an error; undefined where there is none. */
export function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
