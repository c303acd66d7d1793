import { CruxError } from '@crux/contract'
import { getToken, parseChallenge, type RegistryAddress, type RegistryChallenge, tokenUrl } from '@crux/rules'
import {
  createTtlCache,
  type Outbound,
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
} from '@crux/service-kit'
import { rateLimited } from './rate-limit.ts'
import { parseJson, type RegistryAccess, refusedCredentials, timeoutMs, unreachable } from './registry-api.ts'

export const pullScope = (name: string) => `repository:${name}:pull`
export const encodePath = (name: string) => name.split('/').map(encodeURIComponent).join('/')

type Options = { outbound: Outbound; address: RegistryAddress; access: RegistryAccess }

/**
 * A client of one registry by the distribution specification. It detects whether the registry uses https, answers its
 * challenge with basic credentials or a token, and keeps both for its lifetime.
 */
export function createV2Client(options: Options) {
  const { outbound, address, access } = options
  const tokens = createTtlCache<string, string>({ ttlMs: 60_000, max: 1_000 })
  let scheme: 'https' | 'http' | undefined = address.scheme === 'http' ? 'http' : undefined
  let useBasic = false

  /** Tries https first; a registry on loopback may use http instead. */
  async function exchange(path: string, request: OutboundRequest): Promise<OutboundResponse> {
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

  async function request(
    method: 'GET' | 'HEAD',
    path: string,
    scope: string,
    headers: Record<string, string> = {},
  ): Promise<OutboundResponse> {
    const base: OutboundRequest = { method, timeoutMs, redirects: 3, maxBytes: 8 * 1_024 * 1_024 }
    const remembered = authorization(scope)
    const first = await exchange(path, {
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
      const token = await fetchToken(options, { challenge, scope, isPlain: scheme === 'http' })
      if (!token) return first
      tokens.set(scope, token.value, { ttlMs: token.ttlMs })
    } else return first
    return exchange(path, { ...base, headers: { ...headers, authorization: authorization(scope) ?? '' } })
  }

  function authorization(scope: string): string | undefined {
    if (useBasic && access) return basic(access)
    const token = tokens.get(scope)
    return token === undefined ? undefined : `Bearer ${token}`
  }

  const send = (method: 'GET' | 'HEAD') => async (path: string, scope: string, headers?: Record<string, string>) => {
    try {
      return await request(method, path, scope, headers)
    } catch (error) {
      throw unreachable(error, 'url')
    }
  }

  return {
    host: address.host,
    hasCredentials: access !== undefined,
    /** @throws CruxError invalidArgument `url` when the registry cannot be reached */
    get: send('GET'),
    /** @throws CruxError invalidArgument `url` when the registry cannot be reached */
    head: send('HEAD'),
  }
}

export type V2Client = ReturnType<typeof createV2Client>

/** @returns undefined when the registry refuses a token to callers without credentials */
async function fetchToken(
  { outbound, address, access }: Options,
  { challenge, scope, isPlain }: { challenge: RegistryChallenge; scope: string; isPlain: boolean },
): Promise<{ value: string; ttlMs: number } | undefined> {
  const target = { hostname: address.hostname, isPlain }
  const realm = tokenUrl(challenge, target, { hasCredentials: access !== undefined, scope })
  if (!realm.ok)
    throw new CruxError('invalidArgument', {
      property: 'url',
      description: `The registry asks to sign in at ${realm.problem}.`,
    })
  const headers: Record<string, string> = access ? { authorization: basic(access) } : {}
  const response = await outbound.request(realm.url.href, { timeoutMs, headers })
  if (response.status === 401 || response.status === 403) {
    if (access) throw refusedCredentials()
    return undefined
  }
  const limited = rateLimited(response, realm.url.host)
  if (limited) throw limited
  const body = parseJson(response.body)
  const value = getToken(body)
  if (response.status !== 200 || value === undefined)
    throw new CruxError('invalidArgument', {
      property: 'url',
      description: `${realm.url.host} did not issue a token (${response.status}).`,
    })
  // 60 s when the answer names none; renewed a little early.
  const seconds = typeof body.expires_in === 'number' ? body.expires_in : 60
  return { value, ttlMs: Math.min(Math.max(seconds - 10, 5), 300) * 1_000 }
}

const basic = ({ user, token }: NonNullable<RegistryAccess>) =>
  `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`
