import { createHash } from 'node:crypto'
import type { FinalContainerConfig } from '@crux/contract'

/** Equal for an instance whose image and final configuration are the same; row ids and the order of keys do not count. */
export function configHash(digest: string, config: FinalContainerConfig): string {
  return createHash('sha256')
    .update(`${digest}\n${canonical(config)}`)
    .digest('hex')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const entries = Object.entries(value)
    .filter(([key, entry]) => key !== 'id' && entry !== undefined && entry !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`
}
