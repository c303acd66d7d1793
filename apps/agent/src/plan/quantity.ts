const factors: Record<string, number> = {
  '': 1,
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
}

/** Bytes of a quantity as Kubernetes writes it ("512Mi", "1G"); undefined for what is none. */
export function bytesOfQuantity(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]+)?)([a-zA-Z]*)$/.exec(text.trim())
  const factor = factors[match?.[2] ?? '?']
  return match && factor !== undefined ? Math.floor(Number(match[1]) * factor) : undefined
}
