import { randomUUID } from 'node:crypto'
import { CloseReason } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import type { Logger } from '@crux/service-kit'
import { type Command, type LinkedAgent, minimumVersion, type NodeLinks } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { type Link, offline } from './link.ts'
import { findLink } from './presence-store.ts'

const closeReasons = { shutdown: CloseReason.SHUTDOWN, 'token-revoked': CloseReason.TOKEN_REVOKED } as const
/** Stopping a container takes the engine 10 s by itself. */
const requestTimeoutMs = 60_000

/** The operations on links that only the gateway uses. */
export interface LinkTable extends NodeLinks {
  get(nodeId: string): Link | undefined
  all(): Link[]
  /** Replaces the node's previous link and returns it. */
  replace(link: Link): Link | undefined
  /** Removes a link; @returns false if another link has replaced it */
  remove(link: Link): boolean
  emitLinked(link: Link): void
  emitLost(link: Link): void
}

/** The links of this process. The gateway adds them, because agents open the connections. */
export function createNodeLinks(parts: Pick<App, 'database' | 'log'>): LinkTable {
  const links = new Map<string, Link>()
  const linked = createListeners(parts.log)
  const lost = createListeners(parts.log)
  const serverId = randomUUID()

  /** @throws CruxError that explains why this process cannot send commands to the node */
  async function usable(nodeId: string): Promise<Link> {
    const link = links.get(nodeId)
    if (link && !link.ended) {
      if (link.supported) return link
      throw new CruxError('preconditionFailed', {
        property: 'id',
        value: nodeId,
        description: `The agent of this node is older than ${minimumVersion}: install it again to update it.`,
      })
    }
    const server = (await findLink(parts.database.pool, nodeId))?.linkServer
    if (!server || server === serverId) throw offline()
    throw new CruxError('serviceUnavailable', {
      property: 'agent',
      value: nodeId,
      description: 'The agent of this node is connected to another server process. Try again in a moment.',
    })
  }

  function sendTo(nodeId: string, command: Command): boolean {
    return links.get(nodeId)?.send(command) ?? false
  }

  return {
    serverId,
    status(nodeId) {
      const link = links.get(nodeId)
      if (!link || link.ended) return 'unreachable'
      if (link.updating) return 'updating'
      return link.supported ? 'connected' : 'outdated'
    },
    agent: (nodeId) => links.get(nodeId)?.agent,
    held: () => [...links.keys()],
    deploy: (nodeId, release) => !links.get(nodeId)?.updating && sendTo(nodeId, { case: 'deploy', value: release }),
    cancel: (nodeId, release) => sendTo(nodeId, { case: 'cancelDeployment', value: { release } }),
    send: sendTo,
    async request(nodeId, command, timeoutMs = requestTimeoutMs) {
      return (await usable(nodeId)).request(command, timeoutMs)
    },
    async watchContainers(nodeId, scope, handler) {
      return (await usable(nodeId)).open({ kind: 'containers', handler }, (streamId) => ({
        case: 'watchContainers',
        value: { streamId, scope },
      }))
    },
    async followLog(nodeId, log, handler) {
      return (await usable(nodeId)).open({ kind: 'log', handler }, (streamId) => ({
        case: 'followLog',
        value: { ...log, streamId },
      }))
    },
    onLinked: linked.add,
    onLinkLost: lost.add,
    close: (nodeId, reason) => links.get(nodeId)?.close(closeReasons[reason]),
    get: (nodeId) => links.get(nodeId),
    all: () => [...links.values()],
    replace(link) {
      const previous = links.get(link.agent.nodeId)
      links.set(link.agent.nodeId, link)
      return previous
    },
    remove: (link) => links.get(link.agent.nodeId) === link && links.delete(link.agent.nodeId),
    emitLinked: (link) => linked.emit(link.agent),
    emitLost: (link) => lost.emit(link.agent),
  }
}

function createListeners(log: Logger) {
  const listeners = new Set<(agent: LinkedAgent) => void>()
  return {
    add(heard: (agent: LinkedAgent) => void) {
      listeners.add(heard)
      return () => void listeners.delete(heard)
    },
    emit(agent: LinkedAgent) {
      for (const heard of [...listeners]) {
        try {
          heard(agent)
        } catch (err) {
          log.error({ err, nodeId: agent.nodeId }, 'a listener of the links failed')
        }
      }
    },
  }
}
