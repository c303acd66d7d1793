import type { FinalContainerConfig } from '@crux/contract'

export interface ServicePort {
  name: string
  port: number
  targetPort: number
  protocol: 'TCP' | 'UDP'
}

/** More ports are no service any more, and each costs rules on every node. */
const portsMax = 1_000

/**
 * The ports of a container's service: the external port, or the internal one where there is none, leads to the internal one. Both ends of a
 * range belong to it.
 *
 * @throws Error with a sentence for users for a port that two rows name
 */
export function toServicePorts({ portRanges, ports }: FinalContainerConfig): ServicePort[] {
  const rows = [
    ...ports.map(({ external, internal, protocol }) => ({
      port: external ?? internal,
      targetPort: internal,
      protocol,
    })),
    ...portRanges.flatMap(({ external, internal }) =>
      Array.from({ length: Math.min(portsMax + 1, internal.to - internal.from + 1) }, (_, index) => ({
        port: external.from + index,
        targetPort: internal.from + index,
        protocol: 'tcp' as const,
      })),
    ),
  ]
  if (rows.length > portsMax) throw new Error(`portRanges: a container has at most ${portsMax} ports on a cluster`)
  const seen = new Set<string>()
  return rows.map(({ port, protocol, targetPort }) => {
    const name = `${protocol ?? 'tcp'}-${port}`
    if (seen.has(name)) throw new Error(`ports: ${port} is there twice`)
    seen.add(name)
    return { name, port, targetPort, protocol: protocol === 'udp' ? 'UDP' : 'TCP' }
  })
}

/**
 * The port of the service that leads to a port of the container, or its first TCP port.
 *
 * @throws Error with a sentence for users that names the setting
 */
export function findServicePort(
  config: FinalContainerConfig,
  internal: number | null | undefined,
  setting: string,
): ServicePort {
  const ports = toServicePorts(config).filter(({ protocol }) => protocol === 'TCP')
  const found = internal ? ports.find(({ targetPort }) => targetPort === internal) : ports[0]
  if (found) return found
  throw new Error(
    internal
      ? `${setting}: the port ${internal} is none of the container's TCP ports`
      : `${setting}: the container has no TCP port; add one`,
  )
}
