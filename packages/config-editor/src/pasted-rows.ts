import type { ContainerConfigFields } from '@crux/contract'
import { parsePort, parsePortRange, parseVolume } from '@crux/rules'

type RowOf<F extends 'ports' | 'portRanges' | 'volumes'> = NonNullable<ContainerConfigFields[F]>[number]

/** Ports of a pasted text, as compose files write them (`8080:80/udp`, ranges); undefined where it is a mere number, or no ports at all. */
export function parsePastedPorts(text: string): { ports: RowOf<'ports'>[]; ranges: RowOf<'portRanges'>[] } | undefined {
  const parts = text
    .split(/[\s,]+/)
    .map((word) => word.replace(/^-?["']?|["']$/g, ''))
    .filter(Boolean)
  if (parts.length === 0 || (parts.length === 1 && /^\d+$/.test(parts[0] ?? ''))) return undefined
  const ranges = parts.map(parsePortRange)
  const ports = parts.map((word, at) => (ranges[at] ? undefined : parsePort(word)))
  if (parts.some((_, at) => !ranges[at] && !ports[at])) return undefined
  return { ports: ports.filter((port) => port !== undefined), ranges: ranges.filter((range) => range !== undefined) }
}

/** Volumes of a pasted text (`data:/var/lib/data:ro`, one per line); undefined where it is a mere name. */
export function parsePastedVolumes(text: string): RowOf<'volumes'>[] | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((line) =>
      line
        .trim()
        .replace(/^-\s*/, '')
        .replace(/^["']|["']$/g, ''),
    )
    .filter(Boolean)
  const volumes = lines.map(parseVolume).filter((volume) => volume !== undefined)
  return lines.length > 0 && volumes.length === lines.length && text.includes(':') ? volumes : undefined
}
