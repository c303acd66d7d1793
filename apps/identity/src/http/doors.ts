import { isLoopbackHost } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { App } from '../context.ts'
import { sameSecret } from '../secrets.ts'
import { IdentityError } from './errors.ts'

/** With it our server proves that a request comes from it, so that the client address it reports counts. */
export const proxySecretHeader = 'x-crux-proxy-secret'

/** Whether the request was passed on by our own server. */
export function isFromServer(app: Pick<App, 'config'>, request: FastifyRequest): boolean {
  const given = request.headers[proxySecretHeader]
  const secret = app.config.IDENTITY_PROXY_SECRET
  return secret !== undefined && typeof given === 'string' && sameSecret(given, secret)
}

/**
 * A page of another host name that leads to our address would speak with us as if we were that host (DNS rebinding). Only our own
 * names are answered: that of CRUX_URL, and those of this machine with the port that was asked.
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
