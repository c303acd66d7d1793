import { CruxError } from '@crux/contract'
import { isLoopbackName, isTrustedRealm, type RegistryAddress } from '@crux/rules'
import { type Outbound, OutboundError, type OutboundRequest, type OutboundResponse } from '@crux/service-kit'
import { parseJson, type RegistryAccess, refusedCredentials, timeoutMs, unreachable } from './registry-api.ts'

type Challenge = { scheme: string; parameters: Record<string, string> }

/**
 * Speaks to one registry by the distribution specification: finds out whether it speaks https, answers its challenge with basic
 * credentials or a token, and remembers both for as long as it lives.
 */
export function createV2Client(options: { outbound: Outbound; address: RegistryAddress; access: RegistryAccess }) {
  const { outbound, address, access } = options
  const tokens = new Map<string, { value: string; until: number }>()
  let scheme: 'https' | 'http' | undefined = address.scheme === 'http' ? 'http' : undefined
  let useBasic = false

  /** https first; a registry on loopback may speak http instead (decision 30). */
  async function send(path: string, request: OutboundRequest): Promise<OutboundResponse> {
    if (scheme) return outbound.request(`${scheme}://${address.host}${path}`, request)
    try {
      const response = await outbound.request(`https://${address.host}${path}`, request)
      scheme = 'https'
      return response
    } catch (error) {
      const speaksPlain =
        error instanceof OutboundError &&
        (error.code === 'tls' || error.code === 'protocol' || error.code === 'unreachable')
      if (!address.isLoopback || !speaksPlain) throw error
      const response = await outbound.request(`http://${address.host}${path}`, request)
      scheme = 'http'
      return response
    }
  }

  async function request(path: string, scope: string, headers: Record<string, string> = {}): Promise<OutboundResponse> {
    const base: OutboundRequest = { timeoutMs, redirects: 3, maxBytes: 8 * 1_024 * 1_024 }
    const remembered = authorization(scope)
    const first = await send(path, {
      ...base,
      headers: { ...headers, ...(remembered && { authorization: remembered }) },
    })
    if (first.status !== 401) return first
    tokens.delete(scope)
    const challenge = parseChallenge(first.headers['www-authenticate'])
    if (challenge?.scheme === 'basic') {
      if (!access || remembered?.startsWith('Basic')) return first
      useBasic = true
    } else if (challenge?.scheme === 'bearer') {
      const token = await fetchToken(challenge, scope)
      if (!token) return first
    } else return first
    return send(path, { ...base, headers: { ...headers, authorization: authorization(scope) ?? '' } })
  }

  function authorization(scope: string): string | undefined {
    if (useBasic && access) return basic(access)
    const token = tokens.get(scope)
    return token && token.until > Date.now() ? `Bearer ${token.value}` : undefined
  }

  /** The token of the realm that the challenge names (distribution specification, token authentication). */
  async function fetchToken(challenge: Challenge, scope: string): Promise<boolean> {
    const realm = realmOf(challenge)
    const query = new URLSearchParams()
    if (challenge.parameters.service) query.set('service', challenge.parameters.service)
    const wanted = scope || challenge.parameters.scope
    if (wanted) query.set('scope', wanted)
    for (const [name, value] of query) realm.searchParams.set(name, value)
    const response = await outbound.request(realm.href, {
      timeoutMs,
      headers: access ? { authorization: basic(access) } : {},
    })
    if (response.status === 401 || response.status === 403) {
      if (access) throw refusedCredentials()
      return false
    }
    const body = parseJson(response.body)
    const value = typeof body.token === 'string' ? body.token : body.access_token
    if (response.status !== 200 || typeof value !== 'string')
      throw new CruxError('invalidArgument', {
        property: 'url',
        description: `${realm.host} gives no token (${response.status}).`,
      })
    // 60 s when the answer names none; renewed a little early.
    const seconds = typeof body.expires_in === 'number' ? body.expires_in : 60
    if (tokens.size > 1_000) tokens.clear()
    tokens.set(scope, { value, until: Date.now() + Math.min(Math.max(seconds - 10, 5), 300) * 1_000 })
    return true
  }

  /** Credentials go only to the registry's own site, and over https outside loopback (security.md 14). */
  function realmOf({ parameters: { realm = '' } }: Challenge): URL {
    const refuse = (why: string) =>
      new CruxError('invalidArgument', { property: 'url', description: `The registry asks to sign in at ${why}.` })
    if (!URL.canParse(realm)) throw refuse('a place that is no address')
    const url = new URL(realm)
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    if (url.username || url.password || !/^https?:$/.test(url.protocol)) throw refuse('a place that is not allowed')
    if (access && !isTrustedRealm(address.hostname, hostname))
      throw refuse(`${url.host}, which is another site: the credentials are not sent there`)
    const samePlain = scheme === 'http' && hostname === address.hostname
    if (url.protocol === 'http:' && !isLoopbackName(hostname) && !samePlain)
      throw refuse(`${url.host} without encryption: the credentials are not sent there`)
    return url
  }

  return {
    host: address.host,
    /** @throws CruxError invalidArgument `url` when the registry cannot be reached */
    async get(path: string, scope: string, headers?: Record<string, string>): Promise<OutboundResponse> {
      try {
        return await request(path, scope, headers)
      } catch (error) {
        throw unreachable(error, 'url')
      }
    },
  }
}

export type V2Client = ReturnType<typeof createV2Client>

const basic = ({ user, token }: NonNullable<RegistryAccess>) =>
  `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`

/** The first challenge that we can answer; `key="value"` pairs (RFC 9110, 11.6.1). */
export function parseChallenge(header: string | string[] | undefined): Challenge | undefined {
  for (const line of [header ?? []].flat()) {
    const match = /^\s*(basic|bearer)\b(.*)$/is.exec(line)
    if (!match) continue
    const parameters: Record<string, string> = {}
    for (const [, name = '', quoted, plain] of (match[2] ?? '').matchAll(
      /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g,
    ))
      parameters[name.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''
    return { scheme: (match[1] ?? '').toLowerCase(), parameters }
  }
  return undefined
}
