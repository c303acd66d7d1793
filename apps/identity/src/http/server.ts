import { requestIdFrom } from '@crux/service-kit'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { App } from '../app/app.ts'
import { isStorable } from './body.ts'

import { answerError } from './error-page.ts'
import { csrfViolation, type IdentityError, noSuchRow } from './errors.ts'
import { foreignHost, isForeign, isFromServer, isOwnHost } from './origin.ts'
import { RequestContext } from './request-context.ts'
import { mount, type Routes } from './routes.ts'

/** Forms of browsers are small. Administrators import many identities at once, and are authenticated before the body is read. */
const bodyLimits = { browsers: 64 * 1024, administrators: 1024 * 1024 }
const noStore = 'private, no-cache, no-store, must-revalidate'
/** These paths serve programs or files and need no csrf cookie. */
const withoutCsrfCookie =
  /^\/(?:health\/|sessions(?:\/[^/]+)?$|schemas\/|version$|(?:admin\/)?identities|self-service\/[a-z]+\/api$|self-service\/(?:login|registration|settings|recovery|verification)$)/

/**
 * Creates an HTTP server of the service.
 *
 * @param options.guard decides first whether a request is accepted
 */
export function createServer(
  app: App,
  routes: Routes,
  options: { browsers: boolean; guard?: (request: FastifyRequest) => IdentityError | undefined; prefix?: string },
): FastifyInstance {
  const bodyLimit = options.browsers ? bodyLimits.browsers : bodyLimits.administrators
  const server = Fastify({
    bodyLimit,
    exposeHeadRoutes: false,
    genReqId: (request) => requestIdFrom(request.headers),
    trustProxy: app.config.TRUSTED_PROXIES,
    // This limits how long a client that sends its request byte by byte can hold a connection.
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
  })
  const contexts = new WeakMap<FastifyRequest, RequestContext>()
  const createRequestContext = (request: FastifyRequest, reply: FastifyReply): RequestContext => {
    let ctx = contexts.get(request)
    if (!ctx) {
      ctx = new RequestContext(request, reply, app.publicUrl, isFromServer(app, request))
      contexts.set(request, ctx)
    }
    return ctx
  }

  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit }, (_request, body, done) => done(null, body))

  server.addHook('onRequest', async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (!path.startsWith('/health/')) reply.header('cache-control', noStore)
    reply.header('x-content-type-options', 'nosniff')
    const refused =
      misdirected(app, request, options) ??
      options.guard?.(request) ??
      (options.browsers ? foreignRequest(app, request) : undefined)
    if (refused) {
      for (const [name, value] of Object.entries(refused.headers)) reply.header(name, value)
      return reply.code(refused.code).send(refused.toBody())
    }
    if (options.browsers && ['GET', 'HEAD'].includes(request.method) && !withoutCsrfCookie.test(path))
      createRequestContext(request, reply).ensureCsrfToken()
  })
  server.addHook('onSend', async (request, reply) => {
    const cookies = contexts.get(request)?.cookies ?? []
    if (cookies.length > 0) reply.header('set-cookie', cookies)
  })
  server.addHook('onResponse', async (request, reply) => {
    const { id, method } = request
    // The query is excluded because it may contain a code or a token.
    const path = request.url.split('?', 1)[0]
    app.log.debug(
      { requestId: id, method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    )
  })

  server.setErrorHandler((error, request, reply) => answerError(app, createRequestContext(request, reply), error, true))
  mount(
    server,
    routes,
    (handler) => async (request, reply) => {
      const ctx = createRequestContext(request, reply)
      try {
        // No row contains a null character, and PostgreSQL would fail on a path segment with one.
        if (!Object.values(request.params ?? {}).every(isStorable)) throw noSuchRow()
        return await handler(ctx)
      } catch (error) {
        return answerError(app, ctx, error, !options.browsers || isForPrograms(request))
      }
    },
    options,
  )
  return server
}

/** Whether a request names a host that is not ours and does not authenticate. Liveness probes are exempt because they reveal nothing. */
function misdirected(
  app: App,
  request: FastifyRequest,
  { guard }: { guard?: (request: FastifyRequest) => IdentityError | undefined },
): IdentityError | undefined {
  const path = request.url.split('?', 1)[0] ?? ''
  if (/^(?:\/admin)?\/health\//.test(path) || isOwnHost(app, request) || isFromServer(app, request)) return undefined
  return guard && !guard(request) ? undefined : foreignHost()
}

/** Refuses changes by browsers whose headers show another site, because such requests carry the cookies of this one. */
function foreignRequest(app: App, request: FastifyRequest): IdentityError | undefined {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method) || request.headers.cookie === undefined) return undefined
  if (!isForeign(request.headers, app.acceptedOrigins)) return undefined
  return csrfViolation('The request comes from another site.')
}

/** Paths that always answer with JSON, because no browser opens them as a page. */
function isForPrograms(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? ''
  return /^\/(?:sessions|schemas|health)(?:\/|$)|\/(?:api|flows|errors)$/.test(path)
}
