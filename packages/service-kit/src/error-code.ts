/** The code of an error of Node or of a library, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code !== '' ? code : undefined
}
