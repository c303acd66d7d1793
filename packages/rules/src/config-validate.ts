import type { ContainerConfigFields, FinalContainerConfig, NodeType } from '@crux/contract'
import { patterns } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { checkShape } from './config-shape.ts'
import { type HostPort, isSameHostPort, publishedPorts } from './host-ports.ts'
import { repeatedRoutes } from './routes.ts'
import { kubernetesNameProblems } from './validate-kubernetes-names.ts'
import { mountProblems } from './validate-mounts.ts'
import { portProblems } from './validate-ports.ts'
import { routingProblems } from './validate-routing.ts'
import { rowProblems } from './validate-rows.ts'
import { runtimeProblems } from './validate-runtime.ts'

export type ValidationOptions = {
  /** Where it is known: the container's whole name must then be a DNS label. */
  prefix?: string | undefined
  /** A merged configuration: it must stand on its own (a routed port, a volume that is filled must be there). */
  whole?: boolean | undefined
  /**
   * What a layer lies over: a port may be routed to that is listed there. `unknown` where a layer lies over several (that of a
   * deployment, of a bundle). Without it the layer is judged as it would stand alone.
   */
  below?: ContainerConfigFields | 'unknown' | undefined
  /** Where it is known: what this kind of node cannot do is refused. */
  nodeType?: NodeType | undefined
}

/**
 * Rules that hold for one layer or for a merged configuration (ui.md U26.3, backend.md 4.5 step 3, decision 30).
 *
 * @returns one problem per property, whatever it is given; the first rule that a property breaks is named
 */
export function validateConfig(config: ContainerConfigFields, options: ValidationOptions = {}): ConfigProblem[] {
  const { problems, readable } = checkShape(config)
  const all = [
    ...problems,
    ...nameProblems(readable.name, options.prefix),
    ...portProblems(readable, options),
    ...routingProblems(readable, options),
    ...mountProblems(readable, options),
    ...rowProblems(readable),
    ...runtimeProblems(readable, options),
    ...kubernetesNameProblems(readable, options),
  ]
  return onePerProperty(all)
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
  nodeType?: NodeType,
): ConfigProblem[] {
  const problems = instances.flatMap(({ config }, index) =>
    validateConfig(config, { prefix, whole: true, nodeType }).map((found) => ({
      ...found,
      property: `instances[${index}].config.${found.property}`,
    })),
  )
  const names = new Set<string>()
  const hostPorts: (HostPort & { name: string; index: number })[] = []
  instances.forEach(({ config }, index) => {
    const refuse = (property: string, error: string, description: string) =>
      problems.push(problem(`instances[${index}].config.${property}`, error, description))
    const claim = (name: string, property: string) => {
      if (names.has(name))
        refuse(
          property,
          'containerNameAreUnique',
          `Two containers would be called ${prefix}-${name}: name one of them differently`,
        )
      names.add(name)
    }
    claim(config.name, 'name')
    for (const [place, init] of (config.initContainers ?? []).entries())
      claim(`${config.name}-${init.name}`, `initContainers[${place}].name`)
    for (const mine of publishedPorts(config)) {
      const other = hostPorts.find((theirs) => theirs.index !== index && isSameHostPort(theirs, mine))
      if (other)
        refuse(
          mine.property,
          'hostPortsAreUnique',
          `Port ${Math.max(mine.from, other.from)} of the node is published by ${other.name} too`,
        )
      hostPorts.push({ ...mine, name: config.name, index })
    }
  })
  problems.push(...repeatedRoutes(instances))
  return onePerProperty(problems)
}

function onePerProperty(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const named = new Set<string>()
  return problems.filter(({ property }) => !named.has(property) && named.add(property))
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
