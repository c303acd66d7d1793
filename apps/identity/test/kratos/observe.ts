import type { Answer } from '../browser.ts'
import { consoleUrl } from '../console-url.ts'
import { relaxations } from './differences.ts'

/** The parts of an answer that clients depend on, without values that differ between runs and without texts, which are those of Crux. */
export interface Observation {
  status: number
  headers: Record<string, string>
  cookies: string[]
  body: unknown
}

const seenHeaders = ['allow', 'cache-control', 'link', 'x-total-count', 'x-kratos-authenticated-identity-id']

export function observe(answer: Answer): Observation {
  const headers: Record<string, string> = {}
  const mediaType = answer.headers.get('content-type')?.split(';')[0]
  const isRedirect = answer.status >= 300 && answer.status < 400
  // The body of a redirect, for clients that do not follow it, is not part of the contract.
  if (mediaType && !isRedirect && answer.status !== 204) headers['content-type'] = mediaType
  if (answer.location !== undefined) headers.location = plain(answer.location)
  for (const name of seenHeaders) {
    const value = answer.headers.get(name)
    if (value !== null) headers[name] = plain(value)
  }
  return {
    status: answer.status,
    headers,
    cookies: answer.setCookies
      .filter((cookie) => !ownCookies.has(cookie.split('=', 1)[0] ?? ''))
      .map(cookieShape)
      .sort(),
    body: isRedirect ? '' : getBody(answer),
  }
}

function getBody(answer: Answer): unknown {
  try {
    return shape('', answer.json)
  } catch {
    return answer.text.trim()
  }
}

/** Texts, and values that only one of the two servers can know: their presence is compared, not their content. */
const wording = new Set<string>(relaxations.wording.fields)
const secrets = new Set<string>(relaxations.secrets.fields)
/** Debugging information of Ory Kratos. */
const left = new Set<string>(relaxations.errorDetails.fields)
const ownCookies = new Set<string>(relaxations.cookies.fields)
const isMoment = (name: string) => name === 'since' || name.endsWith('_unix')

function shape(name: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (name === 'nodes') return nodesByName(value as AnyNode[])
    return value.map((entry) => shape('', entry))
  }
  if (typeof value === 'number') return isMoment(name) ? '<moment>' : value
  if (typeof value === 'string') {
    if (wording.has(name)) return '<text>'
    if (name === 'id' && /^[\w-]{22}$/.test(value)) return '<key>'
    return secrets.has(name) ? '<secret>' : plain(value)
  }
  if (typeof value !== 'object' || value === null) return value
  // Ory Kratos returns one of two versions at random.
  if (name === 'webauthn' && 'identifiers' in value) return shape('', { ...value, version: '<version>' })
  // The user of a passkey: a random handle, where other objects have an id of the same format.
  if (name === 'user' && 'displayName' in value) return shape('', { ...value, id: '<handle>' })
  return Object.fromEntries(
    Object.entries(value)
      .filter(([inner, entry]) => !left.has(inner) && !(inner === 'transient_payload' && isEmpty(entry)))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([inner, entry]) => [inner, inner === 'expires_at' ? lifespan(value, String(entry)) : shape(inner, entry)]),
  )
}

/** Missing values are sometimes returned as an empty object, and sometimes absent. */
function isEmpty(value: unknown): boolean {
  return JSON.stringify(value) === '{}'
}

/** In whole minutes, which distinguishes a flow of ten minutes from one of an hour. */
function lifespan(owner: { issued_at?: unknown }, expiresAt: string): string {
  if (typeof owner.issued_at !== 'string') return '<time>'
  const minutes = Math.round((Date.parse(expiresAt) - Date.parse(owner.issued_at)) / 60_000)
  return `<${minutes} minutes after issued_at>`
}

interface AnyNode {
  group: string
  attributes: { name?: string; id?: string; node_type: string }
}

/** Nodes by group and name, without their order, because pages arrange them by group. */
function nodesByName(nodes: AnyNode[]): Record<string, unknown> {
  const named: [string, unknown][] = []
  const taken = new Map<string, number>()
  for (const node of nodes) {
    const { name, id, node_type: type } = node.attributes
    const plainName = `${node.group}/${name ?? id ?? type}`
    const count = (taken.get(plainName) ?? 0) + 1
    taken.set(plainName, count)
    named.push([count === 1 ? plainName : `${plainName} ${count}`, nodeShape(node)])
  }
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function nodeShape(node: AnyNode): unknown {
  const attributes = Object.entries(node.attributes).map(([name, value]) => [name, attribute(name, value)])
  return shape('', { ...node, attributes: Object.fromEntries(attributes) })
}

function attribute(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (name === 'src') return value.replace(/^data:image\/png;base64,.*$/, '<png>')
  // The call contains the options of the ceremony.
  if (name === 'onclick') return value.replace(/\(.*\)/s, '(…)')
  if (name === 'value' && value.startsWith('{"')) return JSON.parse(value)
  return value
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

function plain(text: string): string {
  return text
    .replaceAll(`${consoleUrl}/kratos`, '<service>')
    .replaceAll(consoleUrl, '<console>')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<service>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1')
    .replaceAll(uuid, (id) => (/^[0-]+$/.test(id) ? '<zero id>' : '<id>'))
    .replaceAll(/ory_(st|lo)_[A-Za-z0-9]{32}/g, '<$1 token>')
    .replaceAll(/scenario-[\da-f]+(?:(?:@|%40)example\.com)?/gi, (email) =>
      email.startsWith('S') ? '<Email>' : '<email>',
    )
    .replace(/^[A-Za-z0-9+/]{86}==$/, '<csrf token>')
    .replace(/^[0-9a-f]{32}$/, '<key>')
    .replace(/^[\w+/-]{43,128}=*$/, '<handle>')
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/, '<time>')
    .replaceAll(/(?<=^|code=)\d{6}$/g, '<code>')
    .replaceAll(/(?<=token=)[A-Za-z0-9]{32}/g, '<token>')
}

function cookieShape(cookie: string): string {
  return cookie
    .replace(/^csrf_token_[0-9a-f]{64}/, 'csrf_token_<hash>')
    .replace(/=[^;]*/, '=')
    .replace(/Expires=(?!Thu, 01 Jan 1970)[^;]+/, 'Expires=<time>')
    .replace(/Max-Age=86[34]\d\d/, 'Max-Age=86400')
}
