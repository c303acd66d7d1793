const factors: Record<string, number> = {
  '': 1,
  m: 1e-3,
  u: 1e-6,
  n: 1e-9,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  E: 1e18,
  Ei: 1024 ** 6,
}

const decimal = String.raw`\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)`

/** Bytes of a quantity as Kubernetes writes it ("512Mi", "1G", "1e9"), rounded up; undefined for what is none. */
export function bytesOfQuantity(text: string): number | undefined {
  const plain = text.trim()
  const exponent = new RegExp(`^${decimal}[eE]([+-]?[0-9]{1,2})$`).exec(plain)
  if (exponent) return whole(Number(`${exponent[1]}e${exponent[2]}`))
  const match = new RegExp(`^${decimal}([a-zA-Z]*)$`).exec(plain)
  const factor = factors[match?.[2] ?? '?']
  return match && factor !== undefined ? whole(Number(match[1]) * factor) : undefined
}

/** Thousandths of a core, from "2", "0.5" or "500m". */
export function millisOfCores(text: string): number | undefined {
  const match = new RegExp(`^${decimal}(m?)$`).exec(text.trim())
  return match ? whole(Number(match[1]) * (match[2] === 'm' ? 1 : 1_000)) : undefined
}

/** What is left of a byte counts as one; a product such as 0.1 * 1000 is not always exact. */
function whole(value: number): number | undefined {
  const rounded = Math.ceil(Number(value.toFixed(6)))
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
