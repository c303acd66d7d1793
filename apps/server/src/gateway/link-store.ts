import { and, eq, sql } from 'drizzle-orm'
import type { App } from '../context.ts'
import { node, nodeToken } from '../db/schema/index.ts'
import type { Link } from './link.ts'

/**
 * Makes a link the current one, whichever process held the previous one.
 *
 * @returns whether the node had another key for secrets before; undefined when it has no token any more: it was
 *   revoked, or the node deleted
 */
export async function recordLinked(
  app: App,
  link: Link,
  serverId: string,
  address: string | undefined,
): Promise<{ keyChanged: boolean } | undefined> {
  const { nodeId, info } = link.agent
  const [linked] = await app.database.db
    .update(node)
    .set({
      linkServer: serverId,
      linkSession: link.id,
      connectedAt: new Date(),
      address: address ?? null,
      agentVersion: info.version,
      engineVersion: info.engineVersion,
      operatingSystem: info.operatingSystem,
      architecture: info.architecture,
      publicKey: info.publicKey,
    })
    .where(
      and(eq(node.id, nodeId), sql`exists (select from ${nodeToken} where ${eq(nodeToken.nodeId, node.id)} for share)`),
    )
    .returning({ previousKey: sql<string | null>`old.public_key` })
  return linked && { keyChanged: linked.previousKey !== null && linked.previousKey !== info.publicKey }
}

/** @returns false when another link is the current one */
export async function recordUnlinked(app: App, link: Link, serverId: string) {
  const unlinked = await app.database.db
    .update(node)
    .set({ linkServer: null, linkSession: null, disconnectedAt: new Date() })
    .where(and(eq(node.id, link.agent.nodeId), eq(node.linkServer, serverId), eq(node.linkSession, link.id)))
    .returning({ id: node.id })
  return unlinked.length > 0
}
