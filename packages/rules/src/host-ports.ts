import type { ContainerConfigFields } from '@crux/contract'

export type HostPort = { from: number; to: number; protocol: string; address: string; property: string }

/** The host ports that a container binds, including ranges. */
export function publishedPorts(config: ContainerConfigFields): HostPort[] {
  if (config.networkMode === 'host' || config.networkMode === 'none') return []
  const single = (config.ports ?? []).flatMap((row, index) =>
    row.external
      ? [
          {
            from: row.external,
            to: row.external,
            protocol: row.protocol ?? 'tcp',
            address: row.bindAddress ?? '',
            property: `ports[${index}].external`,
          },
        ]
      : [],
  )
  const ranges = (config.portRanges ?? []).map((row, index) => ({
    ...row.external,
    protocol: 'tcp',
    address: '',
    property: `portRanges[${index}].external`,
  }))
  return [...single, ...ranges]
}

/** Whether a binding is for all addresses of the machine: to none, or to the unspecified address of a family. */
export const isEveryAddress = (address: string): boolean => address === '' || address === '0.0.0.0' || address === '::'

/** Whether two bindings conflict. */
export function isSameHostPort(left: HostPort, right: HostPort): boolean {
  return (
    left.protocol === right.protocol &&
    left.from <= right.to &&
    right.from <= left.to &&
    (left.address === right.address || isEveryAddress(left.address) || isEveryAddress(right.address))
  )
}
