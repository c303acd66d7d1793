const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a value can be compared with a column of type uuid. PostgreSQL fails on others instead of finding nothing. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuidShape.test(value)
}
