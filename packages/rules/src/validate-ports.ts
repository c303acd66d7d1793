import type { ContainerConfigFields } from '@crux/contract'
import { overlap, overlappingRanges } from './config-merge.ts'
import { type ConfigProblem, problem } from './config-problem.ts'
import { isSameHostPort, publishedPorts } from './host-ports.ts'

/** Checks ports, their ranges, and the gate that holds them. */
export function portProblems(
  config: ContainerConfigFields,
  { whole }: { whole?: boolean | undefined },
): ConfigProblem[] {
  return [
    ...rangeProblems(config),
    ...publishingProblems(config),
    ...proxyProtocolProblems(config, whole ?? false),
    ...(whole ? gateProblems(config) : []),
  ]
}

/** Whether a port belongs to the container, as a single port or in a range. */
export function isOwnPort(config: ContainerConfigFields, port: number): boolean {
  return (
    (config.ports ?? []).some((row) => row.internal === port) ||
    (config.portRanges ?? []).some(({ internal }) => overlap(internal, { from: port, to: port }))
  )
}

function rangeProblems(config: ContainerConfigFields): ConfigProblem[] {
  const ranges = config.portRanges ?? []
  const problems: ConfigProblem[] = []
  config.ports?.forEach((row, index) => {
    for (const range of ranges) {
      for (const side of ['internal', 'external'] as const) {
        const value = row[side]
        if (!value || (row.protocol ?? 'tcp') !== 'tcp' || !overlap(range[side], { from: value, to: value })) continue
        problems.push(
          problem(
            `ports[${index}].${side}`,
            'port-range-overlap',
            `Port ${value} lies in the range ${range[side].from}-${range[side].to}: leave it out of one of them`,
          ),
        )
      }
    }
  })
  ranges.forEach((row, index) => {
    if (ranges.some((before, place) => place < index && overlappingRanges(before, row)))
      problems.push(problem(`portRanges[${index}]`, 'port-range-overlap', 'This range overlaps with another one'))
  })
  return problems
}

function publishingProblems(config: ContainerConfigFields): ConfigProblem[] {
  const published = publishedPorts(config)
  const twice = published.flatMap((mine, index) =>
    mine.property.startsWith('ports') && published.some((other, place) => place < index && isSameHostPort(other, mine))
      ? [problem(mine.property, 'hostPortsAreUnique', `Port ${mine.from} of the node is published twice`)]
      : [],
  )
  const nowhere = (config.ports ?? []).flatMap((row, index) =>
    row.bindAddress && !row.external
      ? [problem(`ports[${index}].external`, 'required', `Say which port of ${row.bindAddress} it is`)]
      : [],
  )
  return [...twice, ...nowhere]
}

/** Only the gate writes the PROXY protocol, and only for TCP. */
function proxyProtocolProblems(config: ContainerConfigFields, whole: boolean): ConfigProblem[] {
  return (config.ports ?? []).flatMap((row, index) => {
    const wrong = (error: string, description: string) => [problem(`ports[${index}].proxyProtocol`, error, description)]
    if (!row.proxyProtocol) return []
    if (row.protocol === 'udp') return wrong('oneOf', 'The PROXY protocol is for TCP: take it off this UDP port')
    if (whole && !row.external)
      return wrong(
        'oneOf',
        `The PROXY protocol is written where the port is published: publish ${row.internal} or take it off`,
      )
    if (whole && !config.portGate?.enabled)
      return wrong('oneOf', 'The port gate writes the PROXY protocol: keep ports open, or take it off')
    return []
  })
}

function gateProblems(config: ContainerConfigFields): ConfigProblem[] {
  if (!config.portGate?.enabled) return []
  if (config.networkMode === 'host' || config.networkMode === 'none')
    return [
      problem(
        'portGate.enabled',
        'oneOf',
        `With the network mode ${config.networkMode} no port is published that a gate could hold`,
      ),
    ]
  if (publishedPorts(config).some(({ protocol }) => protocol === 'tcp')) return []
  return [problem('portGate.enabled', 'required', 'A gate holds published TCP ports: publish one, or switch it off')]
}
