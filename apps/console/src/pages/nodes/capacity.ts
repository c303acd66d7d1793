import type { Machine } from '@crux/contract'

type Capacity = Machine['allocatable']
export type ResourceName = keyof Capacity
export const resourceNames = ['cpuMillis', 'memoryBytes', 'pods'] as const satisfies readonly ResourceName[]

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

const precise = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** "0.25", "3.92", "1,834": of hundreds nobody needs the digits behind the point. */
const round = (value: number): string => (value < 100 ? precise : whole).format(value)

/** Binary units, in which clusters count. */
function memoryUnit(bytes: number): number {
  let unit = 0
  while (bytes >= 1_024 ** (unit + 1) && unit < units.length - 1) unit += 1
  return unit
}

/** An amount alone: "3.92", "15.6 GiB", "110". */
export function amountText(name: ResourceName, amount: number): string {
  if (name === 'pods' || amount === 0) return round(amount)
  if (name === 'cpuMillis') return round(amount / 1_000)
  const unit = memoryUnit(amount)
  return `${round(amount / 1_024 ** unit)} ${units[unit]}`
}

/** The requested part and the whole: "1.5 of 3.92", "512 MiB of 15.6 GiB", "4 of 15.6 GiB". */
export function partText(name: ResourceName, requested: number, allocatable: number): string {
  const all = amountText(name, allocatable)
  const part = amountText(name, requested)
  const [number, unit] = part.split(' ')
  return `${unit !== undefined && unit === all.split(' ')[1] ? number : part} of ${all}`
}

/** 0 to 1; 1 where something is requested of nothing. */
export const toShare = (requested: number, allocatable: number): number =>
  allocatable > 0 ? Math.min(1, requested / allocatable) : requested > 0 ? 1 : 0
