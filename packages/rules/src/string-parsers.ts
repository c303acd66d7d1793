import type { ContainerConfigFields } from '@crux/contract'
import { restartPolicies, volumeTypes } from '@crux/contract'

/** The shorthands that people type and compose files use (console.md 5). A parser answers undefined for what it cannot read. */
export type Ports = NonNullable<ContainerConfigFields['ports']>[number]
export type PortRanges = NonNullable<ContainerConfigFields['portRanges']>[number]
export type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
export type RestartPolicy = (typeof restartPolicies)[number]

/** `80`, `8080:80`, `127.0.0.1:8080:80/udp`, `[::1]:8080:80`: external before internal. */
export function parsePort(text: string): Ports | undefined {
  const match = /^(?:(\[[0-9a-f:.]+\]|\d+\.\d+\.\d+\.\d+):)?(?:(\d*):)?(\d+)(?:\/(tcp|udp))?$/i.exec(text.trim())
  if (!match) return undefined
  const [, address, external, internal, protocol] = match
  if (address && external === undefined) return undefined
  const inside = port(internal)
  const outside = external ? port(external) : null
  if (inside === undefined || outside === undefined) return undefined
  return {
    internal: inside,
    external: outside,
    ...(protocol && { protocol: protocol.toLowerCase() as 'tcp' | 'udp' }),
    ...(address && { bindAddress: address.replace(/^\[|\]$/g, '') }),
  }
}

export function formatPort(row: Ports): string {
  const address = row.bindAddress ? `${row.bindAddress.includes(':') ? `[${row.bindAddress}]` : row.bindAddress}:` : ''
  const external = row.external ? `${address}${row.external}:` : ''
  return `${external}${row.internal}${row.protocol && row.protocol !== 'tcp' ? `/${row.protocol}` : ''}`
}

/** `8000-8010:9000-9010`, external before internal; `8000-8010` means the same numbers on both sides. */
export function parsePortRange(text: string): PortRanges | undefined {
  const sides = text.trim().split(':')
  if (sides.length > 2) return undefined
  const external = range(sides[0])
  const internal = range(sides.at(-1))
  if (!external || !internal || external.to - external.from !== internal.to - internal.from) return undefined
  return { internal, external }
}

export const formatPortRange = ({ internal, external }: PortRanges): string =>
  `${external.from}-${external.to}:${internal.from}-${internal.to}`

/** `name:path:type` or `path`; an unknown type is rwo. A volume named by its path alone is called after its last folder. */
export function parseVolume(text: string): Volume | undefined {
  const parts = text.trim().split(':')
  if (parts.length > 3 || parts.some((part) => part === '')) return undefined
  if (parts.length === 1) {
    const path = parts[0] ?? ''
    const name = path
      .split('/')
      .filter(Boolean)
      .at(-1)
      ?.replace(/[^\w.-]+/g, '-')
    return name && path.startsWith('/') ? { name, path, type: 'rwo' } : undefined
  }
  const [name = '', path = '', type] = parts
  if (!path.startsWith('/') || name.startsWith('-')) return undefined
  return { name, path, type: volumeTypes.find((known) => known === type) ?? (type === 'rw' ? 'rwx' : 'rwo') }
}

export const formatVolume = (row: Volume): string => `${row.name}:${row.path}:${row.type ?? 'rwo'}`

/** Docker's and compose's spellings: `unless-stopped`, `on-failure:3`, `"no"`, `UnlessStopped`. */
export function parseRestartPolicy(text: string): RestartPolicy | undefined {
  const plain = text
    .trim()
    .replace(/^["']|["']$/g, '')
    .replace(/:\d+$/, '')
    .replace(/[-_\s]/g, '')
    .toLowerCase()
  return restartPolicies.find((policy) => policy.toLowerCase() === plain)
}

function port(text: string | undefined): number | undefined {
  const value = Number(text)
  return Number.isInteger(value) && value >= 1 && value <= 65_535 ? value : undefined
}

function range(text: string | undefined): { from: number; to: number } | undefined {
  const match = /^(\d+)-(\d+)$/.exec(text ?? '')
  const from = port(match?.[1])
  const to = port(match?.[2])
  return from !== undefined && to !== undefined && from <= to ? { from, to } : undefined
}
