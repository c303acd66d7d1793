import { isLoopbackName, isTrustedRealm } from './registry-url.ts'

/** The authentication that a registry requires in its `WWW-Authenticate` header. */
export type RegistryChallenge = { scheme: string; parameters: Record<string, string> }

/** The media types of manifests, for `Accept`: without them a registry answers with a format that predates digests of indexes. */
export const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
] as const

/** The first challenge that is supported; `key="value"` pairs (RFC 9110, 11.6.1). */
export function parseChallenge(header: string | string[] | undefined): RegistryChallenge | undefined {
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

/**
 * The address of the token that a challenge requires (distribution specification, token authentication). Credentials are sent only to the registry's
 * own site, and only over https outside of loopback.
 *
 * @param registry `isPlain`: the registry is reached over http; `tokenOrigin`: an origin that the owner of the credentials named for them, also
 * on another site or over http
 * @returns the address with the query of the challenge, or the problem of the challenge
 */
export function tokenUrl(
  { parameters }: RegistryChallenge,
  registry: { hostname: string; isPlain: boolean; tokenOrigin?: string },
  options: { hasCredentials: boolean; scope: string },
): { ok: true; url: URL } | { ok: false; problem: string } {
  const { realm = '', service } = parameters
  if (!URL.canParse(realm)) return { ok: false, problem: 'a place that is no address' }
  const url = new URL(realm)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  if (url.username || url.password || !/^https?:$/.test(url.protocol))
    return { ok: false, problem: 'a place that is not allowed' }
  const isNamed = url.origin === registry.tokenOrigin
  if (options.hasCredentials && !isNamed && !isTrustedRealm(registry.hostname, hostname))
    return { ok: false, problem: `${url.host}, which is another site: the credentials are not sent there` }
  const samePlain = registry.isPlain && hostname === registry.hostname
  if (url.protocol === 'http:' && !isNamed && !isLoopbackName(hostname) && !samePlain)
    return { ok: false, problem: `${url.host} without encryption: the credentials are not sent there` }
  if (service) url.searchParams.set('service', service)
  const scope = options.scope || parameters.scope
  if (scope) url.searchParams.set('scope', scope)
  return { ok: true, url }
}

/** The token in the answer of a token service, which has one of two names. */
export function getToken(answer: Record<string, unknown>): string | undefined {
  const value = typeof answer.token === 'string' ? answer.token : answer.access_token
  return typeof value === 'string' ? value : undefined
}
