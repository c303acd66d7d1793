/** That of PostgreSQL's bigint. */
const largest = 9_223_372_036_854_775_807n

/** The number of a run; undefined for a value that is none. Numbers beyond the integers of JavaScript arrive as text. */
export function toRunNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) return undefined
  const number = BigInt(value)
  return number > 0n && number <= largest ? number : undefined
}
