const longest = 9_223_372_036_854_775_807n
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown

/** JSON whose integers beyond those of JavaScript become text, digit by digit; undefined for text that is no JSON. */
export function parseLongIntegers(text: string): unknown {
  const keepDigits: Reviver = (_, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '')
      ? context?.source
      : value
  try {
    return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
}

/** The number of a run; undefined for a value that is none. */
export function toRunNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) return undefined
  const number = BigInt(value)
  return number > 0n && number <= longest ? number : undefined
}
