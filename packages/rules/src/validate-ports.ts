import type { ContainerConfigFields } from '@crux/contract'
import { overlap, overlappingRanges } from './config-merge.ts'
import type { Report } from './config-problem.ts'
import { isEveryAddress, publishedPorts } from './host-ports.ts'

/** Checks ports, their ranges, and the gate that holds them. */
export function checkPorts(config: ContainerConfigFields, whole: boolean, report: Report): void {
  checkRanges(config, report)
  checkPublishing(config, report)
  checkProxyProtocol(config, whole, report)
  if (whole) checkGate(config, report)
}

/** Whether a port belongs to the container, as a single port or in a range. */
export function isOwnPort(config: ContainerConfigFields, port: number): boolean {
  return (
    (config.ports ?? []).some((row) => row.internal === port) ||
    (config.portRanges ?? []).some(({ internal }) => overlap(internal, { from: port, to: port }))
  )
}

function checkRanges(config: ContainerConfigFields, report: Report): void {
  const ranges = config.portRanges ?? []
  for (const [index, row] of (config.ports ?? []).entries())
    for (const range of ranges)
      for (const side of ['internal', 'external'] as const) {
        const value = row[side]
        const { from, to } = range[side]
        if (!value || (row.protocol ?? 'tcp') !== 'tcp' || !overlap({ from, to }, { from: value, to: value })) continue
        const description = `Port ${value} lies in the range ${from}-${to}: leave it out of one of them`
        report(`ports[${index}].${side}`, 'port-range-overlap', description)
      }
  for (const [index, row] of ranges.entries())
    if (ranges.slice(0, index).some((before) => overlappingRanges(before, row)))
      report(`portRanges[${index}]`, 'port-range-overlap', 'This range overlaps with another one')
}

function checkPublishing(config: ContainerConfigFields, report: Report): void {
  const single = publishedPorts(config).filter(({ property }) => property.startsWith('ports'))
  for (const same of Map.groupBy(single, ({ protocol, from }) => `${from}/${protocol}`).values()) {
    const addresses = new Set<string>()
    for (const { property, from, address } of same) {
      const isTaken = isEveryAddress(address) || addresses.has(address) || addresses.has('')
      if (isTaken && addresses.size > 0)
        report(property, 'hostPortsAreUnique', `Port ${from} of the node is published twice`)
      addresses.add(isEveryAddress(address) ? '' : address)
    }
  }
  for (const [index, { bindAddress, external }] of (config.ports ?? []).entries())
    if (bindAddress && !external)
      report(`ports[${index}].external`, 'required', `Say which port of ${bindAddress} it is`)
}

/** Only the gate writes the PROXY protocol, and only for TCP. */
function checkProxyProtocol({ ports, portGate }: ContainerConfigFields, whole: boolean, report: Report): void {
  for (const [index, row] of (ports ?? []).entries()) {
    const refuse = (description: string) => report(`ports[${index}].proxyProtocol`, 'oneOf', description)
    if (!row.proxyProtocol) continue
    if (row.protocol === 'udp') refuse('The PROXY protocol is for TCP: take it off this UDP port')
    else if (whole && !row.external)
      refuse(`The PROXY protocol is written where the port is published: publish ${row.internal} or take it off`)
    else if (whole && !portGate?.enabled)
      refuse('The port gate writes the PROXY protocol: keep ports open, or take it off')
  }
}

function checkGate(config: ContainerConfigFields, report: Report): void {
  const { networkMode, portGate } = config
  const refuse = (error: string, description: string) => report('portGate.enabled', error, description)
  if (!portGate?.enabled) return
  if (networkMode === 'host' || networkMode === 'none')
    refuse('oneOf', `With the network mode ${networkMode} no port is published that a gate could hold`)
  else if (!publishedPorts(config).some(({ protocol }) => protocol === 'tcp'))
    refuse('required', 'A gate holds published TCP ports: publish one, or switch it off')
}
