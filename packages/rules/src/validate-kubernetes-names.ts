import type { ContainerConfigFields } from '@crux/contract'
import { markerSections } from './config-parts.ts'
import { type ConfigProblem, collectProblems, type Report } from './config-problem.ts'

type Row = { key: string; value: string | null }

/** The maximum size of all annotations of one object, keys and values in bytes. */
export const annotationBytesMax = 256 * 1024

/** Labels and annotations that the Kubernetes API would refuse. */
export const kubernetesNameProblems = (config: ContainerConfigFields): ConfigProblem[] =>
  collectProblems((report) => checkKubernetesNames(config, report))

/**
 * Checks labels and annotations by the rules of the Kubernetes API. On a Docker node they have no effect and are not checked.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set, and .../annotations/
 */
export function checkKubernetesNames(config: ContainerConfigFields, report: Report): void {
  const { labels, annotations, extraLBAnnotations, useLoadBalancer } = config
  const balancer = extraLBAnnotations ?? []
  for (const section of markerSections)
    for (const [index, { key, value }] of (labels?.[section] ?? []).entries()) {
      checkKey(key, `labels.${section}[${index}].key`, report)
      checkValue(value, `labels.${section}[${index}].value`, report)
    }
  for (const section of markerSections) {
    const rows = annotations?.[section] ?? []
    // The service has the annotations of both; its own win.
    const beside =
      section === 'service' && useLoadBalancer ? balancer.filter(({ key }) => !rows.some((row) => row.key === key)) : []
    checkAnnotations(rows, `annotations.${section}`, beside, report)
  }
  checkAnnotations(balancer, 'extraLBAnnotations', [], report)
}

function checkAnnotations(rows: readonly Row[], at: string, beside: readonly Row[], report: Report): void {
  // The API ignores the case of letters in the part before the slash.
  for (const [index, { key }] of rows.entries())
    checkKey(key, `${at}[${index}].key`, report, (domain) => domain.toLowerCase())
  const bytes = rows.length > 0 ? countBytes([...rows, ...beside]) : 0
  if (bytes > annotationBytesMax)
    report(at, 'max', `Annotations of one object have 256 KiB together: these have ${Math.ceil(bytes / 1024)}`)
}

const encoder = new TextEncoder()

const countBytes = (rows: readonly Row[]): number =>
  rows.reduce((sum, { key, value }) => sum + (value === null ? 0 : encoder.encode(key + value).length), 0)

function checkKey(key: string, property: string, report: Report, read = (domain: string) => domain): void {
  const slash = key.indexOf('/')
  const [domain, name] = slash < 0 ? [undefined, key] : [read(key.slice(0, slash)), key.slice(slash + 1)]
  const what = slash < 0 ? 'A name' : 'The name after the slash'
  if (domain !== undefined && !isSubdomain(domain))
    report(property, 'matches', 'Before the slash, use a domain in lower-case letters: example.com/name')
  else if (name.length > nameMax) report(property, 'max', `${what} has ${nameMax} characters at most`)
  else if (!namePattern.test(name)) report(property, 'matches', `Letters, digits, ${othersAllowed}: example.com/name`)
}

function checkValue(value: string | null, property: string, report: Report): void {
  if (!value) return
  if (value.length > nameMax) report(property, 'max', `A label's value has ${nameMax} characters at most`)
  else if (!namePattern.test(value))
    report(property, 'matches', `A label's value is empty, or letters, digits, ${othersAllowed}`)
}

const nameMax = 63
const namePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const othersAllowed = 'dashes, underscores and dots, first and last a letter or digit'

const isSubdomain = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
