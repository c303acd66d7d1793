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
const withExponent = new RegExp(`^${decimal}[eE]([+-]?[0-9]{1,2})$`)
const withSuffix = new RegExp(`^${decimal}([a-zA-Z]*)$`)

/** Bytes of a quantity in the format of Kubernetes ("512Mi", "1G", "1e9"), rounded up; undefined for other texts. */
export function bytesOfQuantity(text: string): number | undefined {
  const plain = text.trim()
  const exponent = withExponent.exec(plain)
  if (exponent) return whole(Number(`${exponent[1]}e${exponent[2]}`))
  const match = withSuffix.exec(plain)
  const factor = factors[match?.[2] ?? '?']
  return match && factor !== undefined ? whole(Number(match[1]) * factor) : undefined
}

/** Thousandths of a core from "2", "0.5" or "500m", rounded up; undefined for other texts. */
export function millisOfCores(text: string): number | undefined {
  const match = withSuffix.exec(text.trim())
  if (!match || (match[2] !== '' && match[2] !== 'm')) return undefined
  return whole(Number(match[1]) * (match[2] === 'm' ? 1 : 1_000))
}

const uploadUnits: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9, ki: 1024, mi: 1024 ** 2, gi: 1024 ** 3 }

/** Bytes of an upload limit: `1048576`, `10mb`, `1.5 GiB`; undefined for other texts. */
export function bytesOfUploadLimit(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]+)?)\s*([kmg]i?)?b?$/i.exec(text.trim())
  const factor = uploadUnits[(match?.[2] ?? '').toLowerCase()]
  return match && factor ? whole(Number(match[1]) * factor) : undefined
}

/** Rounds up to whole bytes, with a tolerance because a product such as 0.1 * 1000 is not always exact. */
function whole(value: number): number | undefined {
  const rounded = Math.ceil(Number(value.toFixed(6)))
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
