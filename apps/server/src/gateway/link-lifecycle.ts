import { CloseReason } from '@crux/agent-protocol'
import { createQueue } from '@crux/service-kit'
import { type DeploymentPort, serverVersion } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { engineScope, nodeConnected, nodeLeft } from '../nodes/index.ts'
import { unauthenticated } from './call-authentication.ts'
import type { Link } from './link.ts'
import type { LinkTable } from './node-links.ts'
import { clearLink, recordLinked } from './presence-store.ts'
import { nextToken, selectIssuedAt, type TokenOwner } from './token-store.ts'

const tokenAgeMaxMs = 30 * 24 * 60 * 60 * 1_000

export type LinkLifecycle = ReturnType<typeof createLinkLifecycle>

/** Establishes links, replaces their tokens, and records their end. */
export function createLinkLifecycle(
  app: App,
  links: LinkTable,
  deployments: DeploymentPort,
  checkUpdate: (nodeId: string) => Promise<void>,
) {
  /** Links of one node are established one after another. */
  const inTurn = createQueue()
  let stopping = false

  async function establish(link: Link, owner: TokenOwner, address: string | undefined) {
    const { agent } = link
    const previous = links.replace(link)
    if (previous) {
      // The same process reconnected over a new connection, so that no process is left to notify.
      if (previous.agent.info.sessionId === agent.info.sessionId) previous.end()
      else previous.close(CloseReason.REPLACED)
    }
    // The update is conditional on the token: a token that was revoked since it was checked establishes no link.
    const linked = await recordLinked(app.database.pool, link, links.serverId, address)
    if (!linked) throw unauthenticated()
    if (linked.keyChanged) await deployments.keyChanged(agent)
    const positions = link.supported ? await deployments.positions(agent) : []
    const scope = await engineScope(app, agent)
    link.welcome({ serverVersion, supported: link.supported, positions, scope })
    await nodeConnected(app, agent, agent.info, link.supported)
    await checkUpdate(agent.nodeId)
    if (!link.supported) return
    links.emitLinked(link)
    deployments.linked(agent)
    // A token that is replaced during an update would not be known to its other agent.
    if (link.updating) return
    if (owner.firstUse || owner.rotating || isOld(owner.issuedAt)) await rotate(agent.nodeId)
  }

  async function end(link: Link) {
    link.end()
    if (!links.remove(link) || stopping) return
    if (link.welcomed) {
      links.emitLost(link)
      if (link.supported) deployments.linkLost(link.agent)
    }
    const { nodeId } = link.agent
    const counted = await clearLink(app.database.pool, { nodeId, serverId: links.serverId, session: link.id })
    if (counted && link.welcomed) await nodeLeft(app, link.agent)
  }

  async function rotate(nodeId: string) {
    const token = await nextToken(app, nodeId)
    if (token) links.send(nodeId, { case: 'rotateToken', value: { token } })
  }

  /** Tokens of links that stay open for months need rotation as well. */
  async function rotateOld() {
    for (const link of links.all()) {
      if (link.updating) continue
      const { nodeId } = link.agent
      const at = await selectIssuedAt(app, nodeId)
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

  return {
    begin: (link: Link, owner: TokenOwner, address: string | undefined) =>
      inTurn(owner.nodeId, () => establish(link, owner, address)),
    end,
    rotateOld,
    stop,
  }
}

const isOld = (issuedAt: Date) => Date.now() - issuedAt.getTime() > tokenAgeMaxMs
