import {
  ContainerConfigFields,
  type ErrorDetail,
  type FinalContainerConfig,
  invalidArgument,
  patterns,
} from '@crux/contract'
import { capabilityName, isHostPath } from './host-dangerous.ts'

/** `instances[0].config.ports[1].internal`, the rule that is broken, and what to do about it. */
export type ConfigProblem = ErrorDetail

/**
 * Rules that hold for one layer or for a merged configuration (ui.md U26.3, backend.md 4.5 step 3, decision 30).
 *
 * @param options.prefix where it is known: the container's whole name must then be a DNS label
 * @param options.whole true for a merged configuration: it must stand on its own (a routed port must be there)
 */
export function validateConfig(
  config: ContainerConfigFields,
  options: { prefix?: string; whole?: boolean } = {},
): ConfigProblem[] {
  return [
    ...shapeProblems(config),
    ...nameProblems(config.name, options.prefix),
    ...portProblems(config),
    ...routingProblems(config, options.whole ?? false),
    ...volumeProblems(config),
    ...rowProblems(config),
  ]
}

/** What a change makes worse: problems of `after` that `before` did not have. An old mistake elsewhere blocks nobody. */
export function newProblems(before: readonly ConfigProblem[], after: readonly ConfigProblem[]): ConfigProblem[] {
  // Positions shift when rows come and go: they do not make an old problem a new one.
  const identity = ({ property, error, description }: ConfigProblem) =>
    `${property.replace(/\[\d+\]/g, '')}|${error}|${description}`
  const known = new Set(before.map(identity))
  return after.filter((problem) => !known.has(identity(problem)))
}

/** All instances of a release: each by itself, then names and host ports among each other. */
export function validateRelease(
  prefix: string,
  instances: readonly { config: FinalContainerConfig }[],
): ConfigProblem[] {
  const problems = instances.flatMap(({ config }, index) =>
    validateConfig(config, { prefix, whole: true }).map((problem) => ({
      ...problem,
      property: `instances[${index}].config.${problem.property}`,
    })),
  )
  const names = new Map<string, number>()
  const hostPorts: (HostPort & { index: number })[] = []
  instances.forEach(({ config }, index) => {
    if (names.has(config.name))
      problems.push({
        property: `instances[${index}].config.name`,
        error: 'containerNameAreUnique',
        description: `Two containers would be called ${prefix}-${config.name}: name one of them differently`,
      })
    names.set(config.name, index)
    for (const mine of publishedPorts(config)) {
      const other = hostPorts.find((theirs) => theirs.index !== index && samePlace(theirs, mine))
      if (other)
        problems.push({
          property: `instances[${index}].config.${mine.property}`,
          error: 'hostPortsAreUnique',
          description: `Port ${Math.max(mine.from, other.from)} of the node is published by ${instances[other.index]?.config.name} too`,
        })
      hostPorts.push({ ...mine, index })
    }
  })
  return problems
}

export type HostPort = { from: number; to: number; protocol: string; address: string; property: string }

/** The ports of the node that a container binds, ranges included. */
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

/** Whether two bindings cannot hold at once; an unspecified address means all of them. */
export function samePlace(left: HostPort, right: HostPort): boolean {
  const everywhere = (address: string) => address === '' || address === '0.0.0.0' || address === '::'
  return (
    left.protocol === right.protocol &&
    left.from <= right.to &&
    right.from <= left.to &&
    (left.address === right.address || everywhere(left.address) || everywhere(right.address))
  )
}

function shapeProblems(config: ContainerConfigFields): ConfigProblem[] {
  // A name that comes from an image may be one letter: with the prefix before it, that is a good name.
  const { name, ...rest } = config
  const parsed = ContainerConfigFields.safeParse(name && patterns.dnsLabel.test(name) ? rest : config)
  return parsed.success ? [] : (invalidArgument(parsed.error).details ?? [])
}

function nameProblems(name: string | null | undefined, prefix: string | undefined): ConfigProblem[] {
  if (!name || prefix === undefined) return []
  const full = `${prefix}-${name}`
  if (!patterns.dnsLabel.test(full))
    return [problem('name', 'matches', `${full} is no DNS label: use lower-case letters, digits and dashes`)]
  if (full.length > 63)
    return [problem('name', 'max', `${full} has ${full.length} characters, 63 are possible with the prefix`)]
  return []
}

function portProblems(config: ContainerConfigFields): ConfigProblem[] {
  const ranges = config.portRanges ?? []
  const problems: ConfigProblem[] = []
  const within = (value: number, { from, to }: { from: number; to: number }) => value >= from && value <= to
  config.ports?.forEach((row, index) => {
    for (const range of ranges) {
      for (const side of ['internal', 'external'] as const) {
        const value = row[side]
        if (!value || (row.protocol ?? 'tcp') !== 'tcp' || !within(value, range[side])) continue
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
    const other = ranges
      .slice(0, index)
      .find((before) => overlap(before.internal, row.internal) || overlap(before.external, row.external))
    if (other)
      problems.push(problem(`portRanges[${index}]`, 'port-range-overlap', 'This range overlaps with another one'))
  })
  const published = publishedPorts(config)
  published.forEach((mine, index) => {
    if (!mine.property.startsWith('ports') || !published.slice(0, index).some((other) => samePlace(other, mine))) return
    problems.push(problem(mine.property, 'hostPortsAreUnique', `Port ${mine.from} of the node is published twice`))
  })
  return problems
}

function routingProblems(config: ContainerConfigFields, whole: boolean): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const ports = (config.ports ?? []).map((row) => row.internal)
  const known = (port: number) =>
    ports.includes(port) ||
    (config.portRanges ?? []).some(({ internal }) => port >= internal.from && port <= internal.to)
  const checkable = whole || ports.length > 0
  const routed = config.routing?.port
  if (routed && checkable && !known(routed))
    problems.push(
      problem('routing.port', 'oneOf', `Port ${routed} is none of the container's ports: add it or choose another`),
    )
  const limit = config.routing?.uploadLimit
  if (limit && !/^\d+(\.\d+)?\s*([kmgt]i?b?|b)?$/i.test(limit))
    problems.push(problem('routing.uploadLimit', 'matches', 'Write a number of bytes or a size such as 10mb'))
  for (const host of config.routing?.domain?.split(',') ?? []) {
    if (host.trim() !== '' && !/^(\*\.)?[a-zA-Z0-9]([\w.-]*[a-zA-Z0-9])?$/.test(host.trim()))
      problems.push(
        problem('routing.domain', 'matches', `${host.trim()} is no host name: separate several with commas`),
      )
  }
  // It ends up between backquotes in a rule of the proxy.
  if (config.routing?.path && /[`\s]/.test(config.routing.path))
    problems.push(problem('routing.path', 'matches', 'A path has no white space and no backquotes'))
  const { metrics } = config
  if (metrics?.enabled && checkable && (metrics.port ? !known(metrics.port) : whole && ports.length > 0))
    problems.push(problem('metrics.port', 'metric-port', "Choose one of the container's ports"))
  return problems
}

function volumeProblems(config: ContainerConfigFields): ConfigProblem[] {
  return (config.volumes ?? []).flatMap((volume, index) => {
    const found: ConfigProblem[] = []
    if (volume.name.split(/[/\\]/).includes('..') || /[\0\n\r]/.test(volume.name))
      found.push(problem(`volumes[${index}].name`, 'matches', 'A volume stays in its folder: leave out ".."'))
    if (!isHostPath(volume.path))
      found.push(problem(`volumes[${index}].path`, 'matches', 'The path inside the container starts with /'))
    return found
  })
}

/** Names that the engine would refuse later with worse words, and labels that are ours. */
function rowProblems(config: ContainerConfigFields): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const each = (
    field: 'environment' | 'dockerLabels' | 'networks' | 'capabilities',
    check: (row: { key: string; value?: string | null }) => string | undefined,
    error: string,
  ) =>
    config[field]?.forEach((row: { key: string; value?: string | null }, index: number) => {
      const description = check(row)
      if (description) problems.push(problem(`${field}[${index}].key`, error, description))
    })
  each('environment', ({ key }) => (/[=\0]/.test(key) ? 'A name has no equals sign' : undefined), 'matches')
  each(
    'dockerLabels',
    ({ key }) => (key.startsWith('dev.crux.') ? 'Labels that begin with dev.crux. are kept for Crux' : undefined),
    'reserved',
  )
  each(
    'networks',
    ({ key }) =>
      /^[a-zA-Z0-9][\w.-]*$/.test(key) ? undefined : 'A network name has letters, digits, dots, dashes and underscores',
    'matches',
  )
  each(
    'capabilities',
    ({ key }) => (/^[A-Z_]+$/.test(capabilityName(key)) ? undefined : 'Use the name of a capability such as NET_ADMIN'),
    'oneOf',
  )
  if (config.workingDirectory && !isHostPath(config.workingDirectory))
    problems.push(problem('workingDirectory', 'matches', 'The working directory is an absolute path'))
  if (config.storage?.storageId && (!config.storage.bucket || !config.storage.path))
    problems.push(
      problem(config.storage.bucket ? 'storage.path' : 'storage.bucket', 'required', 'A storage needs bucket and path'),
    )
  return problems
}

const overlap = (a: { from: number; to: number }, b: { from: number; to: number }) => a.from <= b.to && b.from <= a.to
const problem = (property: string, error: string, description: string): ConfigProblem => ({
  property,
  error,
  description,
})
