import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer, Http2Server, Http2ServerRequest, ServerHttp2Stream } from 'node:http2'
import { isIP } from 'node:net'
import { Code, ConnectError, createContextValues, type Interceptor } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { AgentService } from '@crux/agent-protocol'
import proxyAddress from '@fastify/proxy-addr'
import type { App } from '../context.ts'
import { createAgentService, peerAddress } from './agent-service.ts'
import { keepSessionsAlive } from './keep-alive.ts'
import type { DeploymentPort } from './links.ts'
import type { LinkTable } from './node-links.ts'
import { createPresence } from './presence.ts'
import { createUpgradeGuard } from './upgrade-guard.ts'

type NodeHandlerFn = ReturnType<typeof connectNodeAdapter>

export interface Gateway {
  /** Requests below this path are the agents'. */
  readonly pathPrefix: string
  /** Answers them; any other is given to `fallback`, or answered 404. */
  listener(fallback?: NodeHandlerFn): NodeHandlerFn
  /** Notices peers that vanished. Once per HTTP/2 server. */
  watch(server: Http2Server | Http2SecureServer): void
  /** Before listening: says that this process lives, and clears what former ones left. */
  start(): Promise<void>
  /** Ends the links, so that agents look for a server at once. Before the HTTP/2 server closes. */
  stop(): Promise<void>
}

/** The largest message of an agent: the state of some thousand containers. */
const messageBytesMax = 16 * 1_048_576
const rotationCheckMs = 60 * 60 * 1_000

export function createGateway(app: App, links: LinkTable, deployments: DeploymentPort): Gateway {
  const service = createAgentService(app, links, deployments)
  const presence = createPresence(app, links)
  const admission = createUpgradeGuard(app)
  const pathPrefix = `/${AgentService.typeName}/`
  const addressOf = createAddressReader(app.config.trustedProxies)
  const unsubscribes: (() => void)[] = []
  let rotation: NodeJS.Timeout | undefined

  function hear() {
    unsubscribes.push(
      app.bus.on('node.close', ({ nodeId, reason }) => links.close(nodeId, reason)),
      // Another process may hold the link that counts now.
      app.bus.on('node.changed', ({ nodeId }) => void presence.check(nodeId)),
      app.bus.onReconnected(() => void presence.beat()),
    )
  }

  return {
    pathPrefix,
    listener(fallback) {
      const serve = connectNodeAdapter({
        routes: service.routes,
        interceptors: [sayErrors(app)],
        fallback,
        grpcWeb: false,
        connect: false,
        acceptCompression: [],
        readMaxBytes: messageBytesMax,
        contextValues: (request) => createContextValues().set(peerAddress, addressOf(request)),
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
      rotation = setInterval(
        () => void service.rotateOld().catch((err: unknown) => app.log.warn({ err }, 'old tokens were not replaced')),
        rotationCheckMs,
      )
    },
    async stop() {
      clearInterval(rotation)
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      service.stop()
      await presence.stop()
    },
  }
}

/** How long whoever was refused may take to stop sending: what comes meanwhile is thrown away. */
const stopSendingMs = 1_000

/** Answers a call without its message. */
function refuse(...[request, response, code]: [...Parameters<NodeHandlerFn>, Code]) {
  const message = code === Code.Unauthenticated ? 'the token is not valid' : 'try again'
  response.writeHead(200, {
    'content-type': 'application/grpc',
    'grpc-status': String(code),
    'grpc-message': encodeURIComponent(message),
  })
  response.end()
  request.resume()
  const { stream } = response as { stream?: ServerHttp2Stream }
  setTimeout(() => stream?.close(), stopSendingMs).unref()
}

/** What nobody foresaw is logged here and tells the agent to try again; it does not say more. */
const sayErrors =
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

/** The address that an agent calls from, as a trusted proxy in front says it; what anybody else says is not believed. */
function createAddressReader(trustedProxies: readonly string[]) {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request: IncomingMessage | Http2ServerRequest): string | undefined => {
    const peer = request.socket?.remoteAddress
    if (peer === undefined) return undefined
    const address = proxyAddress(request as IncomingMessage, isTrusted)
    return plainAddress(isIP(address) === 0 ? peer : address)
  }
}

/** IPv4 as people write it, also where the socket speaks IPv6. */
const plainAddress = (address: string | undefined) => address?.replace(/^::ffff:/, '')
