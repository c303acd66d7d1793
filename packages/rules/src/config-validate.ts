import {
  ContainerConfigFields,
  containerConfigFieldNames,
  type FinalContainerConfig,
  invalidArgument,
  type NodeType,
  patterns,
  propertyPath,
} from '@crux/contract'
import { type ConfigProblem, collectProblems, problem, type Report } from './config-problem.ts'
import { type HostPort, isSameHostPort, publishedPorts } from './host-ports.ts'
import { valueAt } from './json-record.ts'
import { findSharedClaims } from './kubernetes-claims.ts'
import { reportRepeatedRoutes } from './routes.ts'
import { checkKubernetesNames } from './validate-kubernetes-names.ts'
import { checkMounts } from './validate-mounts.ts'
import { checkPorts } from './validate-ports.ts'
import { checkRouting } from './validate-routing.ts'
import { checkRows } from './validate-rows.ts'
import { checkRuntime } from './validate-runtime.ts'

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
  const { prefix, whole = false, below, nodeType } = options
  const { problems, readable } = checkShape(config)
  const more = collectProblems((report) => {
    checkName(readable.name, prefix, report)
    checkPorts(readable, whole, report)
    checkRouting(readable, { whole, below }, report)
    checkMounts(readable, { prefix, whole, nodeType }, report)
    checkRows(readable, report)
    checkRuntime(readable, nodeType, report)
    if (nodeType !== 'docker') checkKubernetesNames(readable, report)
  })
  return onePerProperty([...problems, ...more])
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
  const clashes = collectProblems((report) => {
    for (const [index, { config }] of instances.entries()) {
      const at = `instances[${index}].config`
      const claim = (name: string, property: string) => {
        const description = `Two containers would be called ${prefix}-${name}: name one of them differently`
        if (names.has(name)) report(`${at}.${property}`, 'containerNameAreUnique', description)
        names.add(name)
      }
      claim(config.name, 'name')
      for (const [place, init] of (config.initContainers ?? []).entries())
        claim(`${config.name}-${init.name}`, `initContainers[${place}].name`)
      // A cluster publishes no ports of its machines: each container has a service of its own.
      for (const mine of nodeType === 'k8s' ? [] : publishedPorts(config)) {
        const other = hostPorts.find((theirs) => theirs.index !== index && isSameHostPort(theirs, mine))
        const port = Math.max(mine.from, other?.from ?? 0)
        if (other)
          report(
            `${at}.${mine.property}`,
            'hostPortsAreUnique',
            `Port ${port} of the node is published by ${other.name} too`,
          )
        hostPorts.push({ ...mine, name: config.name, index })
      }
    }
    reportRepeatedRoutes(instances, report)
    const shared = nodeType === 'k8s' ? findSharedClaims(instances.map(({ config }) => config)) : []
    for (const { description, index, volumeIndex } of shared)
      report(`instances[${index}].config.volumes[${volumeIndex}].name`, 'unavailable', description)
  })
  return onePerProperty([...problems, ...clashes])
}

function onePerProperty(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const named = new Set<string>()
  return problems.filter(({ property }) => !named.has(property) && named.add(property))
}

function checkName(name: string | null | undefined, prefix: string | undefined, report: Report): void {
  if (!name || prefix === undefined) return
  const full = `${prefix}-${name}`
  if (!patterns.dnsLabel.test(full))
    report('name', 'matches', `${full} is not a DNS label: use lower-case letters, digits and dashes`)
  else if (full.length > 63)
    report('name', 'max', `${full} has ${full.length} characters, 63 are possible with the prefix`)
}

/**
 * Checks that every value has the form that the contract requires.
 *
 * @returns the problems, and the fields whose rows can be checked further because all their values have the right type, though they may be out of
 * bounds
 */
function checkShape(config: ContainerConfigFields): {
  problems: ConfigProblem[]
  readable: ContainerConfigFields
} {
  // The default name from an image may be one letter, which is valid after the prefix.
  const { name, ...rest } = config
  const parsed = ContainerConfigFields.safeParse(typeof name === 'string' && /^[a-z0-9]$/.test(name) ? rest : config)
  const problems = textProblems(config)
  if (parsed.success) return { problems, readable: config }
  const broken = new Set<unknown>()
  for (const issue of parsed.error.issues) {
    const isWord = oneOfSeveral.has(issue.code) && typeof valueAt(config, issue.path) === 'string'
    if (!keepsType.has(issue.code) && !isWord) broken.add(issue.path[0])
  }
  const readable = Object.fromEntries(Object.entries(config).filter(([field]) => !broken.has(field)))
  return { problems: [...(invalidArgument(parsed.error).details ?? []), ...problems], readable }
}

/** Issues about a value of the right type. */
const keepsType: ReadonlySet<string> = new Set(['too_small', 'too_big', 'invalid_format', 'not_multiple_of', 'custom'])

/** Issues about a text that is not one of the allowed ones, or about a value of another type. */
const oneOfSeveral: ReadonlySet<string> = new Set(['invalid_value', 'invalid_union'])

/** Engines and the database accept neither the character NUL nor a lone surrogate, in any text. */
function textProblems(config: ContainerConfigFields): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const look = (value: unknown, path: PropertyKey[]): void => {
    if (typeof value === 'string') {
      if (value.includes('\0')) found.push(problem(propertyPath(path), 'matches', 'Leave out the character NUL'))
      else if (!value.isWellFormed())
        found.push(problem(propertyPath(path), 'matches', 'A character here is cut in half: write the text again'))
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        look(inner, [...path, Array.isArray(value) ? Number(name) : name])
  }
  for (const field of containerConfigFieldNames) look(config[field], [field])
  return found
}
