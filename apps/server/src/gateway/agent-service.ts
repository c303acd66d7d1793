import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect'
import { AgentService, CloseReason, type StreamContainersRequest, type StreamLogRequest } from '@crux/agent-protocol'
import { isUuid } from '@crux/service-kit'
import { bearerToken, hashToken } from '../access/index.ts'
import { type DeploymentPort, isSupported, serverVersion } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { engineScope, nodeConnected, nodeInstalled, nodeLeft, nodeTokenReplaced } from '../nodes/index.ts'
import { checkContainers, checkInfo, checkLines, checkReport } from './agent-answers.ts'
import { createLink, failureToError, type Link, type OpenStream } from './link.ts'
import { recordLinked, recordUnlinked } from './link-store.ts'
import type { LinkTable } from './node-links.ts'
import { exchangeToken, findTokenOwner, hasToken, nextToken, type TokenOwner } from './token-store.ts'

/** The address of an agent's connection; the listener sets it. */
export const peerAddress = createContextKey<string | undefined>(undefined)

/** The longest time that a call may take to arrive if it started before its token was replaced. */
const underWayMs = 10_000
const tokenAgeMaxMs = 30 * 24 * 60 * 60 * 1_000

/**
 * The server's side of AgentService. Every call carries its token, and only the token's node decides what the call may
 * access.
 */
export function createAgentService(app: App, links: LinkTable, deployments: DeploymentPort) {
  /** Links of one node are established one after another. */
  const turns = new Map<string, Promise<unknown>>()
  /** Hashes of recently replaced tokens. */
  const replaced = new Map<string, { nodeId: string; until: number }>()
  let stopping = false

  async function authenticate(context: HandlerContext): Promise<TokenOwner> {
    const token = bearerToken(context.requestHeader.get('authorization'))
    const owner = token && (await findTokenOwner(app, token, noteReplaced))
    if (!owner) throw unauthenticated()
    if (owner.replacedHash) await nodeTokenReplaced(app, owner)
    return owner
  }

  function noteReplaced(previousHash: string, nodeId: string) {
    replaced.set(previousHash, { nodeId, until: Date.now() + underWayMs })
    setTimeout(() => replaced.delete(previousHash), underWayMs).unref()
  }

  /**
   * Authenticates calls within a link: one that was under way while the token was replaced still carries the previous
   * one.
   */
  async function authenticateInLink(context: HandlerContext): Promise<{ nodeId: string; teamId: string }> {
    const token = bearerToken(context.requestHeader.get('authorization'))
    const byPreviousToken = async () => {
      const previous = token && replaced.get(hashToken(token))
      const agent = previous && previous.until > Date.now() && links.agent(previous.nodeId)
      return agent && (await hasToken(app, agent.nodeId)) ? agent : undefined
    }
    const agent = await byPreviousToken()
    if (agent) return agent
    try {
      return await authenticate(context)
    } catch (cause) {
      // The token was replaced during the lookup. A refusal of this answer would let its command wait until the
      // timeout.
      const late = await byPreviousToken()
      if (!late) throw cause
      return late
    }
  }

  function inTurn<T>(nodeId: string, work: () => Promise<T>): Promise<T> {
    const mine = (turns.get(nodeId) ?? Promise.resolve()).then(work, work)
    const done: Promise<unknown> = mine
      .catch(() => undefined)
      .then(() => turns.get(nodeId) === done && turns.delete(nodeId))
    turns.set(nodeId, done)
    return mine
  }

  async function begin(link: Link, owner: TokenOwner, address: string | undefined) {
    const { agent } = link
    const previous = links.replace(link)
    if (previous) {
      // The same process reconnected over a new connection, so that no process is left to notify.
      if (previous.agent.info.sessionId === agent.info.sessionId) previous.end()
      else previous.close(CloseReason.REPLACED)
    }
    // The update is conditional on the token: a token that was revoked since it was checked establishes no link.
    const linked = await recordLinked(app, link, links.serverId, address)
    if (!linked) throw unauthenticated()
    if (linked.keyChanged) await deployments.keyChanged(agent)
    const positions = link.supported ? await deployments.positions(agent) : []
    const scope = await engineScope(app, agent)
    link.welcome({ serverVersion, supported: link.supported, positions, scope })
    await nodeConnected(app, agent, agent.info, link.supported)
    if (!link.supported) return
    links.emitLinked(link)
    deployments.linked(agent)
    if (owner.firstUse || owner.rotating || isOld(owner.issuedAt)) await rotate(agent.nodeId)
  }

  async function over(link: Link) {
    link.end()
    if (!links.remove(link) || stopping) return
    if (link.welcomed) {
      links.emitLost(link)
      if (link.supported) deployments.linkLost(link.agent)
    }
    const counted = await recordUnlinked(app, link, links.serverId)
    if (counted && link.welcomed) await nodeLeft(app, link.agent)
  }

  async function rotate(nodeId: string) {
    const token = await nextToken(app, nodeId)
    if (token) links.send(nodeId, { case: 'rotateToken', value: { token } })
  }

  /** Delivers a stream's messages to its subscriber; the next one is read when the previous one was accepted. */
  async function carry<M extends { streamId: string }>(
    requests: AsyncIterable<M>,
    context: HandlerContext,
    kind: OpenStream['kind'],
    isKeepAlive: (message: M) => boolean,
    deliver: (stream: OpenStream, message: M) => void | Promise<void>,
  ) {
    const owner = await authenticateInLink(context)
    let stream: OpenStream | undefined
    const read = async () => {
      for await (const message of requests) {
        if (!stream) {
          const found = links.get(owner.nodeId)?.stream(message.streamId)
          // The stream belongs to a link that has ended, or was never requested: the response ends the call.
          if (!found || found.kind !== kind || found.attached) return
          found.attached = true
          clearTimeout(found.timer)
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

  const routes = (router: ConnectRouter) =>
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
        const owner = await authenticate(context)
        if (!info || info.nodeId !== owner.nodeId) throw unauthenticated()
        const link = createLink({ ...owner, info: checkInfo(info) }, isSupported(info.version))
        const ended = () =>
          over(link).catch((err: unknown) =>
            app.log.warn({ err, nodeId: owner.nodeId }, 'the end of a link is not stored yet'),
          )
        // If the connection breaks while a message is written only the signal reports it, because the iterator is not
        // called again.
        context.signal.addEventListener('abort', ended, { once: true })
        try {
          await inTurn(owner.nodeId, () => begin(link, owner, context.values.get(peerAddress)))
          yield* link.outgoing(context.signal)
        } catch (cause) {
          if (cause instanceof ConnectError) throw cause
          app.log.error({ err: cause, nodeId: owner.nodeId }, 'a link could not begin')
          throw new ConnectError('try again', Code.Unavailable)
        } finally {
          context.signal.removeEventListener('abort', ended)
          await ended()
        }
      },
      async respond(request, context) {
        const owner = await authenticateInLink(context)
        links.get(owner.nodeId)?.respond(request)
        return {}
      },
      async reportDeployment(request, context) {
        const owner = await authenticateInLink(context)
        return { acknowledgedSequence: await deployments.report(owner, checkReport(request)) }
      },
      streamContainers: (requests, context) =>
        carry<StreamContainersRequest>(
          requests,
          context,
          'containers',
          ({ full, containers }) => !full && containers.length === 0,
          (stream, message) =>
            stream.handler.message({ ...message, containers: checkContainers(message.containers) } as never),
        ),
      streamLog: (requests, context) =>
        carry<StreamLogRequest>(
          requests,
          context,
          'log',
          ({ failure, lines }) => !failure && lines.length === 0,
          (stream, message) => {
            if (message.failure) return stream.finish(failureToError(message.failure))
            return stream.handler.message({ ...message, lines: checkLines(message.lines) } as never)
          },
        ),
    })

  /** Tokens of links that stay open for months need rotation as well. */
  async function rotateOld() {
    for (const link of links.all()) {
      const { nodeId } = link.agent
      const issued = await app.database.pool.query<{ createdAt: Date }>(
        'select created_at from crux.node_token where node_id = $1',
        [nodeId],
      )
      const at = issued.rows[0]?.createdAt
      if (at && isOld(at)) await rotate(nodeId)
    }
  }

  /**
   * Ends all links. The server stops, not the agents, so that no events are written and deployments are not notified.
   */
  function stop() {
    stopping = true
    for (const link of links.all()) link.end()
  }

  return { routes, rotate, rotateOld, stop }
}

const isOld = (issuedAt: Date) => Date.now() - issuedAt.getTime() > tokenAgeMaxMs

const unauthenticated = () => new ConnectError('the token is not valid', Code.Unauthenticated)
