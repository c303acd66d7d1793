const secondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
}

/** Seconds of a duration of Compose: `1m30s`, `1.5s`, `500ms`, `0`; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const plain = text.trim()
  if (plain === '0') return 0
  if (plain.length > 100 || !/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(plain)) return undefined
  const seconds = [...plain.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (secondsPerUnit[unit] ?? 0),
    0,
  )
  return Number(seconds.toFixed(9))
}

/** Bytes of a size of Compose, whose units are binary: `64m`, `1.5gb`, `300kb`, `1024`; undefined for other texts. */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)\s*([kmgtp]?)i?b?$/i.exec(text.trim())
  if (!match) return undefined
  const bytes = Math.ceil(Number(match[1]) * 1024 ** ' kmgtp'.indexOf(match[2]?.toLowerCase() || ' '))
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Bytes as a quantity of a configuration, in the largest unit that needs no fraction: `64Mi`. */
export function formatQuantity(bytes: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti']
  let [amount, unit] = [bytes, 0]
  while (amount > 0 && amount % 1024 === 0 && unit < units.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${amount}${units[unit]}`
}
