import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import { bearerToken, hashToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { nodeTokenReplaced } from '../nodes/index.ts'
import type { LinkTable } from './node-links.ts'
import { findTokenOwner, hasToken, type TokenOwner } from './token-store.ts'

/** The longest time that a call may take to arrive if it started before its token was replaced. */
const underWayMs = 10_000

export type CallAuthentication = ReturnType<typeof createCallAuthentication>

/** Every call of an agent carries its token, and only the token's node decides what the call may access. */
export function createCallAuthentication(app: App, links: LinkTable) {
  /** Hashes of recently replaced tokens. */
  const replaced = new Map<string, { nodeId: string; until: number }>()

  async function authenticate(context: HandlerContext): Promise<TokenOwner> {
    const token = bearerToken(context.requestHeader.get('authorization'))
    const owner = token && (await findTokenOwner(app, token, recordReplaced))
    if (!owner) throw unauthenticated()
    if (owner.replacedHash) await nodeTokenReplaced(app, owner)
    return owner
  }

  function recordReplaced(previousHash: string, nodeId: string) {
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

  return { authenticate, authenticateInLink }
}

export const unauthenticated = () => new ConnectError('the token is not valid', Code.Unauthenticated)
