import { isLoopbackHost } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app/app.ts'
import { sameSecret } from '../crypto/secrets.ts'
import { IdentityError } from './errors.ts'

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** The accepted origins of a browser: that of the console, and on loopback the other loopback names with the same port. */
export function acceptedOrigins(consoleUrl: string): ReadonlySet<string> {
  const url = new URL(consoleUrl)
  const origins = new Set([url.origin])
  if (loopbackHosts.includes(url.hostname)) {
    const port = url.port === '' ? '' : `:${url.port}`
    for (const host of loopbackHosts) origins.add(`${url.protocol}//${host}${port}`)
  }
  return origins
}

/**
 * Whether the headers of a browser show that a request comes from another site. Without these headers (old browsers, other clients), SameSite cookies
 * and the csrf token protect the request.
 */
export function isForeign(
  headers: { origin?: string | undefined; 'sec-fetch-site'?: string | string[] | undefined },
  accepted: ReadonlySet<string>,
): boolean {
  const { origin } = headers
  // Pages that hide their origin send `null`. No page of Crux does this.
  if (origin !== undefined) return !accepted.has(origin)
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}

/** The header in which the Crux server authenticates, so that the client address in its requests is trusted. */
export const proxySecretHeader = 'x-crux-proxy-secret'

/** Whether the Crux server forwarded the request. */
export function isFromServer(app: Pick<App, 'config'>, request: FastifyRequest): boolean {
  const given = request.headers[proxySecretHeader]
  const secret = app.config.IDENTITY_PROXY_SECRET
  return secret !== undefined && typeof given === 'string' && sameSecret(given, secret)
}

/**
 * A page of another host name that resolves to this address could send requests as if it were this host (DNS rebinding). Only the service's own names
 * are answered: the host of CRUX_URL, and those of this machine with the requested port.
 */
export function isOwnHost(app: Pick<App, 'config' | 'consoleUrl'>, request: FastifyRequest): boolean {
  const given = `http://${request.headers.host ?? ''}`
  if (!URL.canParse(given)) return false
  const { hostname, port } = new URL(given)
  const console = new URL(app.consoleUrl)
  if (hostname === console.hostname && port === console.port) return true
  const isOurs = isLoopbackHost(hostname.replace(/^\[|\]$/g, '')) || hostname === app.config.IDENTITY_HOST
  return isOurs && Number(port || 80) === request.socket.localPort
}

export const foreignHost = () => new IdentityError(421, { reason: 'This service does not answer for that host.' })
