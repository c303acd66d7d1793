/** A property of a value of unknown type, such as the `code` of an error; undefined where there is none. */
export function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** The code of an error of Node or of a library, such as ENOENT; empty where there is none. */
export function errorCode(error: unknown): string {
  const code = getField(error, 'code')
  return typeof code === 'string' ? code : ''
}
