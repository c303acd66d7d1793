import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigPart, configParts, type KeyedRow, sameValue } from './config-parts.ts'
import {
  formatPort,
  formatPortRange,
  formatUlimit,
  formatVolume,
  type PortRanges,
  type Ports,
} from './string-parsers.ts'

/** One line of the list of changes: without `from` the part is new, without `to` it is removed. */
export type ConfigChange = { property: string; from?: string | null; to?: string | null }

/** Lists the differences of two configurations part by part as readable text. Values of secrets are never shown. */
export function diffConfig(from: ContainerConfigFields, to: ContainerConfigFields): ConfigChange[] {
  const before = configParts(from)
  const after = configParts(to)
  const changes: ConfigChange[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(path)
    const now = after.get(path)
    if (sameValue(old?.value, now?.value)) continue
    changes.push({ property: path, from: old && describe(old), to: now && describe(now) })
  }
  return changes.sort((a, b) => a.property.localeCompare(b.property))
}

/** A part as readable text: `8080:80`, `data:/var/lib:rwo`, `add`, or short JSON. */
export function describe({ field, row, value }: ConfigPart): string {
  if (field === 'secrets') return 'encrypted'
  if (row) return describeRow(row)
  if ((field === 'args' || field === 'commands') && Array.isArray(value))
    return value.map(({ key }) => (/\s/.test(key) ? JSON.stringify(key) : key)).join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function describeRow(row: KeyedRow): string {
  if ('path' in row) return [formatVolume(row), row.size, row.class && `class ${row.class}`].filter(Boolean).join(', ')
  if ('internal' in row) {
    if (isPortRange(row)) return formatPortRange(row)
    return `${formatPort(row)}${row.proxyProtocol ? ` (PROXY ${row.proxyProtocol})` : ''}`
  }
  if ('soft' in row) return formatUlimit(row)
  if ('value' in row) return row.value === null ? 'removed' : String(row.value)
  return row.key
}

const isPortRange = (row: Ports | PortRanges): row is PortRanges => typeof row.internal === 'object'
