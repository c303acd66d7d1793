import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect'
import { AgentService, type StreamContainersRequest, type StreamLogRequest } from '@crux/agent-protocol'
import { isUuid } from '@crux/service-kit'
import { bearerToken } from '../access/index.ts'
import { type DeploymentPort, isSupported } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { completeWithToken, nodeInstalled } from '../nodes/index.ts'
import { checkContainers, checkInfo, checkLines, checkReport } from './agent-answers.ts'
import { createUpdateCalls } from './agent-updates.ts'
import { type CallAuthentication, unauthenticated } from './call-authentication.ts'
import { failureToError, Link } from './link.ts'
import type { LinkLifecycle } from './link-lifecycle.ts'
import { requireEngine } from './node-engine.ts'
import type { LinkTable } from './node-links.ts'
import type { OpenStream, StreamTarget } from './open-stream.ts'
import { exchangeToken } from './token-store.ts'

/** The address of an agent's connection; the listener sets it. */
export const peerAddress = createContextKey<string | undefined>(undefined)

/** The server's side of AgentService. */
export function createAgentRoutes(
  app: App,
  parts: {
    links: LinkTable
    deployments: DeploymentPort
    lifecycle: LinkLifecycle
    authentication: CallAuthentication
  },
) {
  const { links, deployments, lifecycle } = parts
  const { authenticate, authenticateInLink } = parts.authentication
  const updates = createUpdateCalls(app, authenticateInLink)
  const getLink = async (context: HandlerContext) => links.get((await authenticateInLink(context)).nodeId)

  return (router: ConnectRouter) =>
    router.service(AgentService, {
      async exchange({ info }, context) {
        const token = bearerToken(context.requestHeader.get('authorization'))
        if (!token || !info?.publicKey || (info.nodeId && !isUuid(info.nodeId))) throw unauthenticated()
        const exchanged = await exchangeToken(app, token, checkInfo(info))
        if (!exchanged) {
          const address = context.values.get(peerAddress)
          app.log.warn({ nodeId: info.nodeId || undefined, address }, 'an install token was refused')
          throw unauthenticated()
        }
        if (exchanged.first) await nodeInstalled(app, exchanged, info)
        return { connectionToken: exchanged.token, nodeId: exchanged.nodeId }
      },
      async confirmToken(_request, context) {
        await authenticate(context)
        return {}
      },
      async *connect({ info }, context) {
        const token = bearerToken(context.requestHeader.get('authorization'))
        if (token && info && isUuid(info.nodeId)) await completeWithToken(app, token, checkInfo(info))
        const owner = await authenticate(context)
        if (!info || info.nodeId !== owner.nodeId) throw unauthenticated()
        requireEngine(owner.nodeType, info.engine)
        const link = new Link({ ...owner, info: checkInfo(info) }, isSupported(info.version))
        const ended = () =>
          lifecycle
            .end(link)
            .catch((err: unknown) => app.log.warn({ err, nodeId: owner.nodeId }, 'the end of a link is not stored yet'))
        // If the connection breaks while a message is written only the signal reports it, because the iterator is not
        // called again.
        context.signal.addEventListener('abort', ended, { once: true })
        try {
          await lifecycle.begin(link, owner, context.values.get(peerAddress))
          yield* link.outgoing(context.signal)
        } catch (cause) {
          if (cause instanceof ConnectError) throw cause
          app.log.error({ err: cause, nodeId: owner.nodeId }, 'a link could not start')
          throw new ConnectError('try again', Code.Unavailable)
        } finally {
          context.signal.removeEventListener('abort', ended)
          await ended()
        }
      },
      async respond(request, context) {
        const link = await getLink(context)
        link?.respond(request)
        return {}
      },
      async reportDeployment(request, context) {
        const owner = await authenticateInLink(context)
        return { acknowledgedSequence: await deployments.report(owner, checkReport(request)) }
      },
      reportUpdate: updates.report,
      takeOver: updates.takeOver,
      downloadAgentImage: updates.download,
      streamContainers: async (requests, context) => carry(requests, await getLink(context), containerCarrier),
      streamLog: async (requests, context) => carry(requests, await getLink(context), logCarrier),
    })
}

/** How the messages of one kind of stream reach its subscriber. */
type Carrier<M> = {
  kind: StreamTarget['kind']
  isKeepAlive(message: M): boolean
  deliver(stream: OpenStream, message: M): void | Promise<void>
}

const containerCarrier: Carrier<StreamContainersRequest> = {
  kind: 'containers',
  isKeepAlive: ({ full, containers }) => !full && containers.length === 0,
  deliver({ target }, message) {
    if (target.kind === 'containers')
      return target.handler.message({ ...message, containers: checkContainers(message.containers) })
  },
}

const logCarrier: Carrier<StreamLogRequest> = {
  kind: 'log',
  isKeepAlive: ({ failure, lines }) => !failure && lines.length === 0,
  deliver(stream, { failure, lines }) {
    if (failure) return stream.finish(failureToError(failure))
    if (stream.target.kind === 'log') return stream.target.handler.message({ lines: checkLines(lines) })
  },
}

/** Delivers a stream's messages to its subscriber; the next one is read when the previous one was accepted. */
async function carry<M extends { streamId: string }>(
  requests: AsyncIterable<M>,
  link: Link | undefined,
  { kind, isKeepAlive, deliver }: Carrier<M>,
) {
  let stream: OpenStream | undefined
  const read = async () => {
    for await (const message of requests) {
      if (!stream) {
        const found = link?.stream(message.streamId)
        // The stream belongs to a link that has ended, or was never requested: the response ends the call.
        if (found?.target.kind !== kind || !found.attach()) return
        stream = found
        void found.closed.then(release)
      }
      if (stream.over || message.streamId === '') return
      if (isKeepAlive(message)) continue
      const taken = deliver(stream, message)
      if (taken) await taken
    }
  }
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  try {
    await Promise.race([read(), released])
  } catch (cause) {
    stream?.finish(cause instanceof Error ? cause : new Error('the stream of the agent broke', { cause }))
    return {}
  }
  stream?.finish()
  return {}
}
