import { type CustomTypesConfig, types } from 'pg'

const timestamptz = 1184

/**
 * For a query whose dates go out as they come in: `timestamptz` arrives as ISO 8601 text in UTC with milliseconds. Reading each
 * into a Date and writing it again is the dearest part of a long list. Belongs into a query's `types`.
 */
export const isoTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? isoTime : types.getTypeParser(oid, format),
}

/** PostgreSQL writes `2026-01-02 03:04:05.6+00`: as many digits as are needed, in the zone of the session. */
export function isoTime(text: string): string {
  const { length } = text
  if (text.endsWith('+00') && length >= 22 && length <= 26)
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
  return (types.getTypeParser(timestamptz, 'text')(text) as Date).toISOString()
}
