import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigPart, configParts, sameValue } from './config-parts.ts'
import { formatPort, formatPortRange, formatUlimit, formatVolume } from './string-parsers.ts'

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
export function describe(part: ConfigPart): string {
  const value = part.value as Record<string, never>
  switch (part.field) {
    case 'secrets':
      return 'encrypted'
    case 'ports':
      return `${formatPort(value as never)}${value.proxyProtocol ? ` (PROXY ${value.proxyProtocol})` : ''}`
    case 'portRanges':
      return formatPortRange(value as never)
    case 'volumes':
      return [formatVolume(value as never), value.size, value.class && `class ${value.class}`]
        .filter(Boolean)
        .join(', ')
    case 'ulimits':
      return formatUlimit(value as never)
    case 'networks':
    case 'customHeaders':
      return (part.value as { key: string }).key
    case 'args':
    case 'commands':
      return (part.value as { key: string }[]).map((row) => quoted(row.key)).join(' ')
  }
  if (typeof part.value !== 'object' || part.value === null) return String(part.value)
  if ('key' in part.value && 'value' in part.value)
    return part.value.value === null ? 'removed' : String(part.value.value)
  return JSON.stringify(part.value)
}

const quoted = (argument: string) => (/\s/.test(argument) ? JSON.stringify(argument) : argument)
