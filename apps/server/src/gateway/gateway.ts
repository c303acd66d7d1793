import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer, Http2Server, Http2ServerRequest } from 'node:http2'
import { isIP } from 'node:net'
import { Code, ConnectError, createContextValues, type Interceptor } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { AgentService } from '@crux/agent-protocol'
import proxyAddress from '@fastify/proxy-addr'
import type { DeploymentPort } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { createAgentRoutes, peerAddress } from './agent-service.ts'
import { createUpdateRounds } from './agent-updates.ts'
import { createCallAuthentication } from './call-authentication.ts'
import { keepSessionsAlive } from './keep-alive.ts'
import { createLinkLifecycle } from './link-lifecycle.ts'
import type { LinkTable } from './node-links.ts'
import { createPresence } from './presence.ts'
import { createUpgradeGuard } from './upgrade-guard.ts'

type NodeHandlerFn = ReturnType<typeof connectNodeAdapter>

export interface Gateway {
  /** Requests below this path are from agents. */
  readonly pathPrefix: string
  /** Answers requests of agents; others are passed to `fallback`, or answered 404. */
  listener(fallback?: NodeHandlerFn): NodeHandlerFn
  /** Detects peers that disappeared. Call once per HTTP/2 server. */
  watch(server: Http2Server | Http2SecureServer): void
  /** Call before listening: registers this process, and clears links of its previous runs. */
  start(): Promise<void>
  /** Ends the links, so that agents connect to another server at once. Call before the HTTP/2 server closes. */
  stop(): Promise<void>
}

/** The largest message of an agent: the state of some thousand containers. */
const messageBytesMax = 16 * 1_048_576
const rotationCheckMs = 60 * 60 * 1_000

export function createGateway(app: App, links: LinkTable, deployments: DeploymentPort): Gateway {
  const updates = createUpdateRounds(app, links)
  const lifecycle = createLinkLifecycle(app, links, deployments, updates.check)
  const authentication = createCallAuthentication(app, links)
  const routes = createAgentRoutes(app, { links, deployments, lifecycle, authentication })
  const presence = createPresence(app, links)
  const admission = createUpgradeGuard(app)
  const pathPrefix = `/${AgentService.typeName}/`
  const getAddress = createAddressReader(app.config.trustedProxies)
  const unsubscribes: (() => void)[] = []
  let rotation: NodeJS.Timeout | undefined

  function hear() {
    unsubscribes.push(
      app.bus.on('node.close', ({ nodeId, reason }) => links.close(nodeId, reason)),
      // Another process may hold the current link.
      app.bus.on('node.changed', ({ nodeId }) => {
        void presence.check(nodeId)
        void updates.check(nodeId)
      }),
      app.bus.onReconnected(() => {
        void presence.beat()
        for (const nodeId of links.held()) void updates.check(nodeId)
      }),
    )
  }

  return {
    pathPrefix,
    listener(fallback) {
      const serve = connectNodeAdapter({
        routes,
        interceptors: [logErrors(app)],
        fallback,
        grpcWeb: false,
        connect: false,
        acceptCompression: [],
        readMaxBytes: messageBytesMax,
        contextValues: (request) => createContextValues().set(peerAddress, getAddress(request)),
      })
      return (request, response) => {
        if (!request.url?.startsWith(pathPrefix)) return serve(request, response)
        void admission(request.headers.authorization).then((refusal) => {
          if (refusal !== undefined) refuse(request, response, refusal)
          else if (!request.destroyed) serve(request, response)
        })
      }
    },
    watch: keepSessionsAlive,
    async start() {
      await presence.start()
      hear()
      updates.start()
      rotation = setInterval(
        () => void lifecycle.rotateOld().catch((err: unknown) => app.log.warn({ err }, 'old tokens were not replaced')),
        rotationCheckMs,
      )
    },
    async stop() {
      clearInterval(rotation)
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      lifecycle.stop()
      await updates.stop()
      await presence.stop()
    },
  }
}

/** How long a refused client may take to stop sending; what arrives in the meantime is discarded. */
const stopSendingMs = 1_000

/** Answers a call without reading its message. */
function refuse(...[request, response, code]: [...Parameters<NodeHandlerFn>, Code]) {
  const message = code === Code.Unauthenticated ? 'the token is not valid' : 'try again'
  response.writeHead(200, {
    'content-type': 'application/grpc',
    'grpc-status': String(code),
    'grpc-message': encodeURIComponent(message),
  })
  response.end()
  request.resume()
  if ('stream' in response) setTimeout(() => response.stream?.close(), stopSendingMs).unref()
}

/** Logs unexpected errors here. The agent gets only a code that makes it try again. */
const logErrors =
  (app: App): Interceptor =>
  (next) =>
  async (request) => {
    try {
      return await next(request)
    } catch (err) {
      if (err instanceof ConnectError) throw err
      app.log.error({ err, call: request.method.name }, 'a call of an agent failed')
      throw new ConnectError('try again', Code.Unavailable)
    }
  }

/** The address of an agent as reported by a trusted proxy in front; reports of other peers are ignored. */
function createAddressReader(trustedProxies: readonly string[]) {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request: IncomingMessage | Http2ServerRequest): string | undefined => {
    const peer = request.socket?.remoteAddress
    if (peer === undefined) return undefined
    const address = proxyAddress(request as IncomingMessage, isTrusted)
    return plainAddress(isIP(address) === 0 ? peer : address)
  }
}

/** IPv4 in its usual form, also where the socket uses IPv6. */
const plainAddress = (address: string | undefined) => address?.replace(/^::ffff:/, '')
