const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** "76.1 MB"; decimal units, as registries and `docker pull` count. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** "12.4 of 76.1 MB" */
export function countBytes(current: number, total: number): string {
  const whole = bytesText(total)
  const part = bytesText(current)
  const [number, unit] = part.split(' ')
  return unit === whole.split(' ')[1] ? `${number} of ${whole}` : `${part} of ${whole}`
}
