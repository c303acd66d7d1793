import { limits } from '@crux/contract'
import { type Logger, parseLongIntegers, requestIdFrom } from '@crux/service-kit'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { App } from '../context.ts'
import { isClientAbort } from './disconnect.ts'
import { toCruxError } from './errors.ts'
import { type HostCheck, refuseOtherHosts } from './hosts.ts'
import { withoutSecrets } from './log-paths.ts'
import { createOnePort, limitArrival, type OnePort } from './one-port.ts'
import { RelayedRefusal } from './relayed-refusal.ts'
import { createHeaders, securityHeaders } from './security-headers.ts'
import { verifySignedBody } from './signed-body.ts'

export type Http = {
  fastify: FastifyInstance
  port: OnePort
  listeningPort(): number
  /** Accepts no new requests, gives open ones `drainMs` to end, then closes all connections. */
  stop(drainMs: number): Promise<void>
}
type Http2Listener = Parameters<typeof createOnePort>[0]['http2']

/**
 * The one public port: Fastify for HTTP/1.1 and for browsers on HTTP/2, the agents' gateway for gRPC.
 *
 * @param options.grpc answers requests whose content type is gRPC's
 */
export function createHttpServer(
  app: App,
  options: { url: () => string; hosts: HostCheck; grpc: Http2Listener; watch: (server: OnePort['http2']) => void },
): Http {
  let port: OnePort | undefined
  const http = Fastify({
    serverFactory: (handler) => {
      port = createOnePort({
        http1: handler,
        http2: (request, response) => {
          const isGrpc = /^application\/(grpc|connect|proto)/.test(request.headers['content-type'] ?? '')
          // Agents may use an internal host name; they send no cookie, and each of their calls carries a token.
          if (isGrpc) return options.grpc(request, response)
          limitArrival(request)
          // Fastify uses the compatibility objects of HTTP/2 like those of HTTP/1.1.
          handler(request as never, response as never)
        },
        tls: app.config.tls,
      })
      return port.server
    },
    genReqId: (request) => requestIdFrom(request.headers),
    trustProxy: app.config.trustedProxies.length > 0 ? [...app.config.trustedProxies] : false,
    bodyLimit: limits.body.max,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    return503OnClosing: false,
    // A malformed address matches no route, so that no hook adds the headers.
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const refusal = toCruxError(error)
      void reply.code(refusal.status).headers(createHeaders(options.url())).send(refusal.toBody(request.id))
    },
  })
  parseJsonBodies(http)

  securityHeaders(http, options.url, app.config)
  observe(http, app)
  refuseOtherHosts(http, options.hosts)
  http.setErrorHandler((error, request, reply) => {
    if (error instanceof RelayedRefusal)
      return reply
        .code(error.relayedStatus)
        .send({ ...error.relayed, ...error.toBody(request.id), status: error.relayedStatus })
    const refusal = toCruxError(error)
    const about = { requestId: request.id, path: request.routeOptions.url }
    if (isClientAbort(request, refusal)) app.log.debug(about, 'the client disconnected before it was answered')
    else if (refusal.status >= 500) app.log.error({ err: refusal.cause ?? refusal, ...about }, 'a request failed')
    if (refusal.retryAfterS !== undefined)
      reply.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterS))))
    return reply.code(refusal.status).send(refusal.toBody(request.id))
  })
  if (!port) throw new Error('Fastify made no server')
  const onePort: OnePort = port
  options.watch(onePort.http2)
  return {
    fastify: http,
    port: onePort,
    listeningPort() {
      const address = onePort.server.address()
      if (typeof address !== 'object' || !address) throw new Error('the server does not listen on a port')
      return address.port
    },
    async stop(drainMs) {
      onePort.closeSessions()
      const cut = setTimeout(() => onePort.destroy(), drainMs)
      await http.close()
      clearTimeout(cut)
    },
  }
}

function parseJsonBodies(http: FastifyInstance): void {
  http.removeAllContentTypeParsers()
  const readJson = http.getDefaultJsonParser('error', 'error')
  http.addContentTypeParser(/^application\/([\w.+-]+\+)?json/, { parseAs: 'string' }, (request, body, done) => {
    // An empty body counts as missing; the endpoint decides whether one is required.
    const text = String(body)
    // Services number their runs beyond the integers of JavaScript: every digit counts.
    const keepsDigits = request.crux?.endpoint.permission === 'pipeline-hook'
    const parsed: typeof done = (error, value) => done(error, error || !keepsDigits ? value : parseLongIntegers(text))
    const read = () => (text === '' ? done(null, undefined) : readJson(request, text, parsed))
    // Nothing of a signed body is parsed before its signature is verified.
    if (request.passed?.verifyBody) verifySignedBody(request, text).then(read, done)
    else read()
  })
}

const attemptsMs = 10_000

/** Attempts of unknown users are only logged, and summed up so that thousands per second are one line. */
function countAttempts(log: Logger) {
  let from = 0
  let count = 0
  return {
    count(address: string, route: string) {
      count++
      if (Date.now() - from < attemptsMs) return
      log.info({ address, route, count }, 'changes were attempted without a session')
      from = Date.now()
      count = 0
    },
  }
}

/** One metric and, at level debug, one log line per request. */
function observe(http: FastifyInstance, app: App) {
  const attempts = countAttempts(app.log)
  const duration = app.metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time until the last byte of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  })
  http.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    if (reply.statusCode === 401 && request.method !== 'GET') attempts.count(request.ip, route)
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000)
    if (app.log.isLevelEnabled('debug'))
      app.log.debug(
        {
          requestId: request.id,
          method: request.method,
          path: withoutSecrets(request.url),
          status: reply.statusCode,
          ms: reply.elapsedTime,
        },
        'answered',
      )
    done()
  })
}
