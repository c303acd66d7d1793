import { isLoopbackHost } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app/app.ts'
import { sameSecret } from '../crypto/secrets.ts'
import { IdentityError } from './errors.ts'

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
