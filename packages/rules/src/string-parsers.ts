import { type ContainerConfigFields, portProtocols, restartPolicies, volumeTypes } from '@crux/contract'

/** The shorthands that users type and compose files use. A parser returns undefined for a text that it cannot parse. */
export type Ports = NonNullable<ContainerConfigFields['ports']>[number]
export type PortRanges = NonNullable<ContainerConfigFields['portRanges']>[number]
export type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
export type RestartPolicy = (typeof restartPolicies)[number]

/** `80`, `8080:80`, `127.0.0.1:8080:80/udp`, `[::1]:8080:80`: external before internal. */
export function parsePort(text: string): Ports | undefined {
  const match = /^(?:(\[[0-9a-f:.]+\]|\d+\.\d+\.\d+\.\d+):)?(?:(\d*):)?(\d+)(?:\/(tcp|udp))?$/i.exec(text.trim())
  if (!match) return undefined
  const [, address, external, internal, protocol] = match
  const inside = port(internal)
  const outside = external ? port(external) : null
  if (inside === undefined || outside === undefined || (address && outside === null)) return undefined
  return {
    internal: inside,
    external: outside,
    ...(protocol && { protocol: portProtocols.find((known) => known === protocol.toLowerCase()) }),
    ...(address && { bindAddress: address.replace(/^\[|\]$/g, '') }),
  }
}

export function formatPort(row: Ports): string {
  const address = row.bindAddress ? `${row.bindAddress.includes(':') ? `[${row.bindAddress}]` : row.bindAddress}:` : ''
  const external = row.external ? `${address}${row.external}:` : ''
  return `${external}${row.internal}${row.protocol && row.protocol !== 'tcp' ? `/${row.protocol}` : ''}`
}

/** `8000-8010:9000-9010`, external before internal; `8000-8010` means the same numbers on both sides. Ranges are TCP. */
export function parsePortRange(text: string): PortRanges | undefined {
  const sides = text
    .trim()
    .replace(/\/tcp$/i, '')
    .split(':')
  if (sides.length > 2) return undefined
  const external = range(sides[0])
  const internal = range(sides.at(-1))
  if (!external || !internal || external.to - external.from !== internal.to - internal.from) return undefined
  return { internal, external }
}

export const formatPortRange = ({ internal, external }: PortRanges): string =>
  `${external.from}-${external.to}:${internal.from}-${internal.to}`

/** `name:path:type` or `path`; an unknown type is rwo. A volume without a name gets the name of the last directory of its path. */
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

/** The spellings of Docker and Compose: `unless-stopped`, `on-failure:3`, `"no"`, `UnlessStopped`. */
export function parseRestartPolicy(text: string): RestartPolicy | undefined {
  const plain = text
    .trim()
    .replace(/^["']|["']$/g, '')
    .replace(/:\d+$/, '')
    .replace(/[-_\s]/g, '')
    .toLowerCase()
  return restartPolicies.find((policy) => policy.toLowerCase() === plain)
}

/** `1024` for both limits, `1024:4096` for the soft and the hard one; -1 is unlimited. */
export function parseUlimit(text: string): { soft: number; hard: number } | undefined {
  const match = /^(-1|\d{1,15})(?::(-1|\d{1,15}))?$/.exec(text.trim())
  return match ? { soft: Number(match[1]), hard: Number(match[2] ?? match[1]) } : undefined
}

export const formatUlimit = ({ soft, hard }: { soft: number; hard: number }): string =>
  soft === hard ? `${soft}` : `${soft}:${hard}`

/** `db.internal:10.0.0.5`, `db=host-gateway`; an IPv6 address may have brackets. */
export function parseExtraHost(text: string): { key: string; value: string } | undefined {
  const match = /^\s*([^\s:=]+)[:=]\s*\[?([^\s[\]]+)\]?\s*$/.exec(text)
  return match?.[1] && match[2] ? { key: match[1], value: match[2] } : undefined
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
