import type { Answer } from '../browser.ts'

/** What a client can tell of an answer, without what differs from run to run and without wording, which is ours. */
export interface Observation {
  status: number
  location?: string
  allow?: string
  cookies: string[]
  body: unknown
}

export function observe(answer: Answer, consoleUrl: string): Observation {
  const allow = answer.headers.get('allow') ?? undefined
  const location = answer.location && plain(answer.location, consoleUrl)
  return {
    status: answer.status,
    ...(location === undefined ? {} : { location }),
    ...(allow === undefined ? {} : { allow }),
    cookies: answer.setCookies.map(cookieShape).sort(),
    body: bodyOf(answer, consoleUrl),
  }
}

function bodyOf(answer: Answer, consoleUrl: string): unknown {
  // A redirect's link for people without a redirecting browser is no part of the contract.
  if (answer.status >= 300 && answer.status < 400) return ''
  try {
    return shape(answer.json, consoleUrl)
  } catch {
    return answer.text.trim()
  }
}

/** Free text, addresses of the client, and what only one of the two servers knows. */
const left = new Set([
  'text',
  'message',
  'reason',
  'details',
  'docs',
  'request_url',
  'ip_address',
  'user_agent',
  '$id',
  'version',
  'title',
])
/** Ways to sign in that the recorded server has and ours has not built yet. */
const notBuilt = new Set(['webauthn', 'passkey', 'totp', 'lookup_secret'])

function shape(value: unknown, consoleUrl: string): unknown {
  if (Array.isArray(value)) return value.map((entry) => shape(entry, consoleUrl))
  if (typeof value === 'string') return plain(value, consoleUrl)
  if (typeof value !== 'object' || value === null) return value
  const { nodes, action } = value as { nodes?: unknown; action?: unknown }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !left.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [
        name,
        name === 'nodes' && Array.isArray(nodes)
          ? nodeShapes(nodes, String(action), consoleUrl)
          : shape(inner, consoleUrl),
      ]),
  )
}

interface AnyNode {
  group: string
  attributes: { name?: string; autocomplete?: string }
}

/** Built nodes only, without their order: pages place them by group. */
function nodeShapes(nodes: AnyNode[], action: string, consoleUrl: string): unknown[] {
  const signing = /self-service\/(login|registration)/.test(action)
  return nodes
    .filter(({ group }) => !notBuilt.has(group) && !(signing && group === 'code'))
    .map(({ attributes: { autocomplete, ...attributes }, ...node }) => {
      // Passkeys put themselves into the list that browsers offer for the identifier.
      const hint = autocomplete?.includes('webauthn') ? {} : { autocomplete }
      return JSON.stringify(shape({ ...node, attributes: { ...attributes, ...hint } }, consoleUrl))
    })
    .sort()
    .map((node) => JSON.parse(node) as unknown)
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

function plain(text: string, consoleUrl: string): string {
  return text
    .replaceAll(consoleUrl, '<console>')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<server>')
    .replaceAll(uuid, '<id>')
    .replaceAll(/ory_(st|lo)_[A-Za-z0-9]{32}/g, '<$1 token>')
    .replaceAll(/journey[\d-]+@example\.com/gi, (email) => (email.startsWith('J') ? '<Email>' : '<email>'))
    .replace(/^[A-Za-z0-9+/]{86}==$/, '<csrf token>')
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, '<time>')
    .replace(/^\d{6}$/, '<code>')
}

function cookieShape(cookie: string): string {
  return cookie
    .replace(/^csrf_token_[0-9a-f]{64}/, 'csrf_token_<hash>')
    .replace(/=[^;]*/, '=')
    .replace(/Expires=[^;]+/, 'Expires=<time>')
    .replace(/Max-Age=86(399|400)/, 'Max-Age=86400')
}
