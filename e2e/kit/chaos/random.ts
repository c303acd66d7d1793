export interface Random {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number
  pick<T>(values: readonly T[]): T
  /** Several different values. */
  sample<T>(values: readonly T[], count: number): T[]
  isLikely(probability: number): boolean
}

/** Generates the same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(values: readonly T[]): T => {
    if (values.length === 0) throw new Error('nothing to choose from')
    return values[Math.floor(next() * values.length)] as T
  }
  return {
    next,
    pick,
    sample(values, count) {
      const left = [...values]
      const taken = []
      while (taken.length < count && left.length > 0) taken.push(...left.splice(Math.floor(next() * left.length), 1))
      return taken
    },
    isLikely: (probability) => next() < probability,
  }
}
