export interface BackOff {
  /** Milliseconds to wait before the next attempt. */
  next(): number
  reset(): void
}

/**
 * Waits that double from 50 ms to 10 s, each with a quarter of jitter: a server that restarts in 300 ms is found again within a second, and
 * a thousand agents do not reconnect at the same instant.
 */
export function createBackOff(options: { random?: () => number } = {}): BackOff {
  const random = options.random ?? Math.random
  let tries = 0
  return {
    next() {
      const base = Math.min(10_000, 50 * 2 ** Math.min(tries, 10))
      tries += 1
      return Math.round(base * (0.75 + random() / 2))
    },
    reset() {
      tries = 0
    },
  }
}
