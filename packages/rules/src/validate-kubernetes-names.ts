import type { ContainerConfigFields, NodeType } from '@crux/contract'
import { markerSections } from './config-parts.ts'
import { type ConfigProblem, problem } from './config-problem.ts'

type Row = { key: string; value: string | null }

/** The maximum size of all annotations of one object, keys and values in bytes. */
export const annotationBytesMax = 256 * 1024

/**
 * Checks labels and annotations by the rules of the Kubernetes API. On a Docker node they have no effect and are not checked.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set, and .../annotations/
 */
export function kubernetesNameProblems(
  config: ContainerConfigFields,
  { nodeType }: { nodeType?: NodeType | undefined },
): ConfigProblem[] {
  if (nodeType === 'docker') return []
  const { labels, annotations, extraLBAnnotations, useLoadBalancer } = config
  const balancer = extraLBAnnotations ?? []
  return [
    ...markerSections.flatMap((section) => labelProblems(labels?.[section] ?? [], `labels.${section}`)),
    ...markerSections.flatMap((section) => {
      const rows = annotations?.[section] ?? []
      // The service has the annotations of both; its own win.
      const beside =
        section === 'service' && useLoadBalancer
          ? balancer.filter(({ key }) => !rows.some((row) => row.key === key))
          : []
      return annotationProblems(rows, `annotations.${section}`, beside)
    }),
    ...annotationProblems(balancer, 'extraLBAnnotations'),
  ]
}

const labelProblems = (rows: readonly Row[], at: string): ConfigProblem[] =>
  rows.flatMap(({ key, value }, index) => [
    ...keyProblems(key, `${at}[${index}].key`),
    ...valueProblems(value, `${at}[${index}].value`),
  ])

function annotationProblems(rows: readonly Row[], at: string, beside: readonly Row[] = []): ConfigProblem[] {
  // The API ignores the case of letters in the part before the slash.
  const problems = rows.flatMap(({ key }, index) =>
    keyProblems(key, `${at}[${index}].key`, (domain) => domain.toLowerCase()),
  )
  const bytes = rows.length > 0 ? bytesOf([...rows, ...beside]) : 0
  if (bytes > annotationBytesMax)
    problems.push(
      problem(at, 'max', `Annotations of one object have 256 KiB together: these have ${Math.ceil(bytes / 1024)}`),
    )
  return problems
}

const encoder = new TextEncoder()
const bytesOf = (rows: readonly Row[]): number =>
  rows.reduce((sum, { key, value }) => sum + (value === null ? 0 : encoder.encode(key + value).length), 0)

function keyProblems(key: string, property: string, read = (domain: string) => domain): ConfigProblem[] {
  const slash = key.indexOf('/')
  const [domain, name] = slash < 0 ? [undefined, key] : [read(key.slice(0, slash)), key.slice(slash + 1)]
  if (domain !== undefined && !isSubdomain(domain))
    return [problem(property, 'matches', 'Before the slash stands a domain in small letters: example.com/name')]
  if (name.length > nameMax)
    return [
      problem(
        property,
        'max',
        `${slash < 0 ? 'A name' : 'The name after the slash'} has ${nameMax} characters at most`,
      ),
    ]
  return namePattern.test(name)
    ? []
    : [
        problem(
          property,
          'matches',
          'Letters, digits, dashes, underscores and dots, first and last a letter or digit: example.com/name',
        ),
      ]
}

function valueProblems(value: string | null, property: string): ConfigProblem[] {
  if (!value) return []
  if (value.length > nameMax) return [problem(property, 'max', `A label's value has ${nameMax} characters at most`)]
  return namePattern.test(value)
    ? []
    : [
        problem(
          property,
          'matches',
          "A label's value is empty, or letters, digits, dashes, underscores and dots, first and last a letter or digit",
        ),
      ]
}

const nameMax = 63
const namePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const isSubdomain = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
