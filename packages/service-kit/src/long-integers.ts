import { getField } from './errors.ts'

/** JSON whose integers beyond those of JavaScript become text, digit by digit; undefined for text that is no JSON. */
export function parseLongIntegers(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits)
  } catch {
    return undefined
  }
}

/** Node passes the text of each value: https://tc39.es/proposal-json-parse-with-source/ */
function keepDigits(_key: string, value: unknown, ...[context]: unknown[]): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = getField(context, 'source')
  return typeof source === 'string' && /^\d+$/.test(source) ? source : value
}
