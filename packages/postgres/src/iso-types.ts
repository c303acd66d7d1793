import { type CustomTypesConfig, types } from 'pg'

const timestamptz = 1184

/**
 * For queries whose dates are returned unchanged: `timestamptz` is read as ISO 8601 text in UTC with milliseconds. Converting each one to a Date and
 * back is the most expensive part of a long list. Used as the `types` of a query.
 */
export const isoTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? isoTime : types.getTypeParser(oid, format),
}

/** PostgreSQL writes `2026-01-02 03:04:05.6+00`: as many digits as needed, in the time zone of the session. */
export function isoTime(text: string): string {
  const { length } = text
  if (text.endsWith('+00') && length >= 22 && length <= 26)
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
  const date: Date = types.getTypeParser(timestamptz, 'text')(text)
  return date.toISOString()
}
