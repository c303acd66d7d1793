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
  /** If it is known, the whole name of the container must be a DNS label. */
  prefix?: string | undefined
  /** A merged configuration must be complete: a routed port and a volume that is filled must exist. */
  whole?: boolean | undefined
  /**
   * The layers below. A layer may route to a port that they list. `unknown` where a layer is used over several others (that of a deployment or a
   * bundle). Without it the layer is validated alone.
   */
  below?: ContainerConfigFields | 'unknown' | undefined
  /** If it is known, settings that this type of node does not support are refused. */
  nodeType?: NodeType | undefined
}

/**
 * Validates one layer or a merged configuration. The console and the server use the same rules.
 *
 * @returns one problem per property for any input; the first rule that a property violates is reported
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

/** The problems of `after` that `before` did not have. An existing error elsewhere does not block a change. */
export function newProblems(before: readonly ConfigProblem[], after: readonly ConfigProblem[]): ConfigProblem[] {
  // Positions are ignored, because they shift when rows are added or removed.
  const identity = ({ property, error, description }: ConfigProblem) =>
    `${property.replace(/\[\d+\]/g, '')}|${error}|${description}`
  const known = new Set(before.map(identity))
  return after.filter((problem) => !known.has(identity(problem)))
}

/** Validates all instances of a release: each by itself, then names and host ports against each other. */
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
    return [problem('name', 'matches', `${full} is not a DNS label: use lower-case letters, digits and dashes`)]
  if (full.length > 63)
    return [problem('name', 'max', `${full} has ${full.length} characters, 63 are possible with the prefix`)]
  return []
}
