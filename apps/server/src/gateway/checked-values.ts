/** Lengths of texts that agents send. */
export const text = { short: 256, name: 1_024, sentence: 4_096, label: 65_536, line: 1_048_576 } as const

export function safeInteger(value: bigint): bigint {
  const max = BigInt(Number.MAX_SAFE_INTEGER)
  return value > max ? max : value
}

/** Null characters cannot be stored, and half of a surrogate pair cannot be sent. */
export function cut(value: string, max: number): string {
  const plain = value.includes('\0') ? value.replaceAll('\0', '') : value
  return plain.length > max ? plain.slice(0, max).toWellFormed() : plain
}
