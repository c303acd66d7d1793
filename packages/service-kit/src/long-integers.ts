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
