import { markerSections } from './config-parts.ts'
import { isRecord, toRecord } from './json-record.ts'
import {
  parseExtraHost,
  parsePort,
  parsePortRange,
  parseRestartPolicy,
  parseUlimit,
  parseVolume,
} from './string-parsers.ts'

export type Fail = (property: string, description: string) => void
/** Converts the JSON of users to rows. Unknown forms are left unchanged, so that the schema refuses them. */
type Reader = (value: unknown, at: string, fail: Fail) => unknown

/** Users write numbers and booleans as values. */
const toText = (value: unknown) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value)

/** `{"A": 1}`, or `["A=1"]` as in Compose files. */
const keyValues: Reader = (value, at, fail) => {
  if (!Array.isArray(value)) return fromObject(value, (key, inner) => ({ key, value: toText(inner) }))
  return fromTexts(value, (row, index) => {
    const [key, text] = split(row, '=')
    if (text === undefined) fail(`${at}[${index}]`, 'Write a name and a value: "LOG_LEVEL=debug"')
    return { key, value: text }
  })
}

const keys: Reader = (value) => fromTexts(value, (key) => ({ key }))

/** Rows that can also be written as one text. */
const shorthand =
  (parse: (text: string) => object | undefined, example: string): Reader =>
  (value, at, fail) =>
    fromTexts(value, (row, index) => {
      const parsed = parse(row)
      if (!parsed) fail(`${at}[${index}]`, `"${row}" cannot be read: write it like "${example}"`)
      return parsed ?? row
    })

const ulimits: Reader = (value, at, fail) => {
  if (Array.isArray(value)) return value
  return fromObject(value, (key, inner) => {
    if (typeof inner === 'object' && inner !== null) return { key, ...inner }
    const limit = parseUlimit(String(inner))
    if (!limit) fail(`${at}.${key}`, 'Write one number, or both limits: "1024:4096"')
    return { key, ...limit }
  })
}

const extraHosts: Reader = (value, at, fail) =>
  Array.isArray(value)
    ? shorthand(parseExtraHost, 'db.internal:10.0.0.5')(value, at, fail)
    : fromObject(value, (key, inner) => ({ key, value: inner }))

const inside =
  (readersOfParts: Readonly<Record<string, Reader>>): Reader =>
  (value, at, fail) =>
    isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name,
            readersOfParts[name]?.(inner, `${at}.${name}`, fail) ?? inner,
          ]),
        )
      : value

const initContainer = inside({
  command: keys,
  args: keys,
  environment: keyValues,
  volumes: shorthand(parseInitVolume, 'data:/data'),
})
const markers = inside(Object.fromEntries(markerSections.map((section) => [section, keyValues])))

const readers: Readonly<Record<string, Reader | undefined>> = {
  environment: keyValues,
  capabilities: keyValues,
  dockerLabels: keyValues,
  extraLBAnnotations: keyValues,
  extraHosts,
  ulimits,
  networks: keys,
  customHeaders: keys,
  commands: keys,
  args: keys,
  labels: markers,
  annotations: markers,
  ports: shorthand((text) => parsePort(text) ?? parsePortRange(text), '8080:80'),
  portRanges: shorthand(parsePortRange, '8000-8010:9000-9010'),
  volumes: shorthand(parseVolume, 'data:/var/lib/data:rwo'),
  logConfig: inside({ options: keyValues }),
  healthCheckConfig: inside({ arguments: keys }),
  initContainers: (value, at, fail) =>
    Array.isArray(value) ? value.map((row, index) => initContainer(row, `${at}[${index}]`, fail)) : value,
  restartPolicy: (value) => (typeof value === 'string' ? (parseRestartPolicy(value) ?? value) : value),
}

/** Converts settings to rows from either form. */
export function expandShorthands(settings: Readonly<Record<string, unknown>>, fail: Fail): Record<string, unknown> {
  const expanded = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, readers[name]?.(value, name, fail) ?? value]),
  )
  moveRanges(expanded)
  return expanded
}

/** Compose files list ranges among the ports; here they are a separate setting. */
function moveRanges(given: Record<string, unknown>): void {
  if (!Array.isArray(given.ports)) return
  const isRange = (row: unknown) => isRecord(toRecord(row).internal)
  const ranges = given.ports.filter(isRange)
  if (ranges.length === 0) return
  given.ports = given.ports.filter((row) => !isRange(row))
  given.portRanges = [...(Array.isArray(given.portRanges) ? given.portRanges : []), ...ranges]
}

function parseInitVolume(text: string): object | undefined {
  const [name, path] = split(text.trim(), ':')
  return name && path?.startsWith('/') ? { name, path } : undefined
}

/** The list with its texts converted. */
function fromTexts(value: unknown, convert: (text: string, index: number) => unknown): unknown {
  return Array.isArray(value) ? value.map((row, index) => (typeof row === 'string' ? convert(row, index) : row)) : value
}

function fromObject(value: unknown, row: (key: string, inner: unknown) => unknown): unknown {
  return isRecord(value) ? Object.entries(value).map(([key, inner]) => row(key, inner)) : value
}

function split(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
