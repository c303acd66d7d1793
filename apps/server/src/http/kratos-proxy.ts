import { request as ask, type IncomingHttpHeaders } from 'node:http'
import { Http2ServerRequest } from 'node:http2'
import { request as askSecurely } from 'node:https'
import { CruxError } from '@crux/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { proxyHeaders, proxySecretHeader } from '../identity/index.ts'

/** These headers belong to one connection, not to the message (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'forwarded',
  // Only our server may send it, never a client.
  proxySecretHeader,
])

type Options = {
  publicUrl: string
  proxySecret: string | undefined
  url: () => string
  /** Called when a user changed their settings, or came back from a login provider, before the browser gets the response. */
  settingsPassed: (cookie: string | undefined) => Promise<void>
}

/** The public API of the identity service under `/kratos`: the prefix is removed, bodies are streamed unread, cookies are kept. */
export function kratosProxy(http: FastifyInstance, options: Options): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url: '/kratos/*',
      handler: (request, reply) => forward(request, reply, options),
    })
  })
}

async function forward(request: FastifyRequest, reply: FastifyReply, options: Options) {
  const path = request.url.replace(/^\/kratos/, '')
  if (isInternal(path)) throw new CruxError('notFound')
  const target = new URL(options.publicUrl)
  const base = target.pathname.replace(/\/$/, '')
  const { headers, hasBody } = forwarded(request, target.host, options)
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const outgoing = (target.protocol === 'https:' ? askSecurely : ask)(
      {
        hostname: target.hostname.replace(/^\[|\]$/g, ''),
        port: target.port,
        method: request.method,
        path: base + path,
        headers,
        timeout: 30_000,
      },
      resolve,
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
    outgoing.on('error', (cause) => reject(new CruxError('serviceUnavailable', { property: 'kratos', cause })))
    request.raw.on('error', () => outgoing.destroy())
    if (hasBody) request.raw.pipe(outgoing)
    else outgoing.end()
  })
  if (changesSettings(request.method, path)) await options.settingsPassed(request.headers.cookie)
  reply.code(answer.statusCode ?? 502)
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined && !hopByHop.has(name)) reply.header(name, value)
  return reply.send(answer)
}

const changesSettings = (method: string, path: string) =>
  path.startsWith('/self-service/methods/oidc/callback/') ||
  (method === 'POST' && /^\/self-service\/settings\/?(\?|$)/.test(path))

/** The admin API has its own port; it is not reachable here, however the path is written. */
function isInternal(path: string): boolean {
  let plain = path.split(/[?#]/)[0] ?? ''
  try {
    // Decoded twice, because a proxy on the way may have decoded it once.
    plain = decodeURIComponent(decodeURIComponent(plain))
  } catch {
    return true
  }
  const { pathname } = new URL(plain.replace(/[\\/]+/g, '/'), 'http://identity')
  return /^\/(admin|identities)(\/|$)/i.test(pathname)
}

/**
 * The forwarded request. A body is always framed, and chunked if its length is unknown: the receiver would take an
 * unframed body of a GET or DELETE for the next request.
 */
function forwarded(request: FastifyRequest, host: string, options: Options) {
  const url = options.url()
  const named = new Set(
    String(request.headers.connection ?? '')
      .toLowerCase()
      .split(/\s*,\s*/),
  )
  const kept = Object.entries(request.headers).filter(
    ([name]) => !hopByHop.has(name) && !named.has(name) && !name.startsWith(':') && !name.startsWith('x-forwarded-'),
  )
  const headers: IncomingHttpHeaders = {
    ...Object.fromEntries(kept),
    host,
    'x-forwarded-for': request.ip,
    'x-forwarded-host': new URL(url).host,
    'x-forwarded-proto': new URL(url).protocol.slice(0, -1),
    'x-request-id': request.id,
    ...proxyHeaders(options),
  }
  const stream = request.raw instanceof Http2ServerRequest ? request.raw.stream : undefined
  const isFramed = 'content-length' in request.headers || 'transfer-encoding' in request.headers
  // HTTP/2 has its own framing, and shows at once when nothing follows the headers.
  const hasBody = stream ? !stream.endAfterHeaders : isFramed
  if (hasBody && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
  return { headers, hasBody }
}
