import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { fingerprint, hashToken, makeToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { type Queries, sql as statement } from '../db/queries.ts'
import { node, nodeInstall, nodeToken } from '../db/schema/index.ts'

export type TokenOwner = {
  nodeId: string
  teamId: string
  nodeName: string
  issuedAt: Date
  /** True while a next token waits for confirmation. */
  rotating: boolean
  firstUse: boolean
  /** The hash of the token that this call invalidated. */
  replacedHash: string | undefined
}

/**
 * Finds the owner of a connection token. It is read at every call, so that a revoked token is invalid at once at every
 * server process. The first call with a token confirms that it arrived; a token from a rotation replaces the previous
 * one then.
 */
export async function findTokenOwner(
  app: App,
  token: string,
  replacing: (previousHash: string, nodeId: string) => void,
): Promise<TokenOwner | undefined> {
  const hash = hashToken(token)
  const [found] = await app.database.db
    .select({
      nodeId: nodeToken.nodeId,
      teamId: node.teamId,
      nodeName: node.name,
      hash: nodeToken.hash,
      isNext: sql<boolean>`${nodeToken.nextHash} is not distinct from ${hash}`,
      rotating: sql<boolean>`${nodeToken.nextHash} is not null`,
      usedAt: nodeToken.usedAt,
      issuedAt: nodeToken.createdAt,
    })
    .from(nodeToken)
    .innerJoin(node, eq(node.id, nodeToken.nodeId))
    .where(or(eq(nodeToken.hash, hash), eq(nodeToken.nextHash, hash)))
  if (!found) return undefined
  const { isNext, usedAt, hash: previousHash, ...owner } = found
  if (isNext) {
    // Called before the token is invalid, so that calls with the invalid token can be explained.
    replacing(previousHash, owner.nodeId)
    await confirmToken(app, hash)
    return { ...owner, issuedAt: new Date(), rotating: false, firstUse: false, replacedHash: previousHash }
  }
  if (!usedAt) {
    await app.database.db.update(nodeToken).set({ usedAt: new Date() }).where(eq(nodeToken.hash, hash))
  }
  return { ...owner, firstUse: !usedAt, replacedHash: undefined }
}

/** Invalidates the previous token. */
async function confirmToken(app: App, hash: string): Promise<void> {
  const replaced = await app.database.db
    .update(nodeToken)
    .set({ hash, nextHash: null, nextToken: null, usedAt: new Date(), createdAt: new Date() })
    .where(eq(nodeToken.nextHash, hash))
    .returning({ nodeId: nodeToken.nodeId })
  for (const { nodeId } of replaced) app.log.info({ nodeId }, 'connection token replaced')
}

/**
 * Exchanges an install token for a connection token. A lost answer does no harm: the same agent (same public key) gets
 * another token while the install token is valid and none of the new ones was used.
 *
 * @param info.nodeId checked when it is not empty; a text that is no id is refused
 * @returns undefined when the install token is not (or no longer) valid for this node and key
 */
export function exchangeToken(
  app: App,
  installToken: string,
  info: { nodeId: string; publicKey: string },
): Promise<{ token: string; nodeId: string; teamId: string; first: boolean } | undefined> {
  return app.database.transaction(async (tx) => {
    const [install] = await tx
      .select({ nodeId: nodeInstall.nodeId, createdBy: nodeInstall.createdBy })
      .from(nodeInstall)
      .where(
        and(
          eq(nodeInstall.tokenHash, hashToken(installToken)),
          // An agent that was given only a token learns its node here.
          info.nodeId ? eq(nodeInstall.nodeId, info.nodeId) : undefined,
          gt(nodeInstall.expiresAt, sql`now()`),
        ),
      )
      .for('update')
    if (!install) return undefined
    const token = makeToken()
    const values = { hash: hashToken(token), exchangedBy: fingerprint(info.publicKey), createdBy: install.createdBy }
    const written = await tx
      .insert(nodeToken)
      .values({ nodeId: install.nodeId, ...values })
      .onConflictDoUpdate({
        target: nodeToken.nodeId,
        set: { hash: values.hash },
        setWhere: and(isNull(nodeToken.usedAt), eq(nodeToken.exchangedBy, values.exchangedBy)),
      })
      .returning({ nodeId: nodeToken.nodeId })
    const [owner] = await tx.select({ teamId: node.teamId }).from(node).where(eq(node.id, install.nodeId))
    if (written.length === 0 || !owner) return undefined
    const burnt = await tx
      .update(nodeInstall)
      .set({ exchangedAt: new Date() })
      .where(and(eq(nodeInstall.nodeId, install.nodeId), isNull(nodeInstall.exchangedAt)))
      .returning({ nodeId: nodeInstall.nodeId })
    return { token, nodeId: install.nodeId, teamId: owner.teamId, first: burnt.length > 0 }
  })
}

export const hasToken = async (app: App, nodeId: string) => (await selectIssuedAt(app, nodeId)) !== undefined

/** The next token of the agent. It stays the same until it is confirmed, because the agent may have it already. */
export async function nextToken(app: App, nodeId: string): Promise<string | undefined> {
  const fresh = makeToken()
  const location = { column: 'node_token.next_token', row: nodeId } as const
  const [row] = await app.database.db
    .update(nodeToken)
    .set({
      nextHash: sql`coalesce(${nodeToken.nextHash}, ${hashToken(fresh)})`,
      nextToken: sql`coalesce(${nodeToken.nextToken}, ${app.cipher.encrypt(fresh, location)})`,
    })
    .where(eq(nodeToken.nodeId, nodeId))
    .returning({ sealed: nodeToken.nextToken })
  return row?.sealed ? app.cipher.decrypt(row.sealed, location) : undefined
}

/** When the current token of a node was issued. */
export async function selectIssuedAt(app: App, nodeId: string): Promise<Date | undefined> {
  const [row] = await app.database.db
    .select({ at: nodeToken.createdAt })
    .from(nodeToken)
    .where(eq(nodeToken.nodeId, nodeId))
  return row?.at
}

/** Whether it is the token of an agent, or of an installation that was not completed. */
export const isAgentToken = async (queries: Queries, hash: string): Promise<boolean> =>
  (await statement`select from crux.node_token where hash = ${hash} or next_hash = ${hash}
    union all select from crux.node_install where token_hash = ${hash} limit 1`.execute(queries, 'token of an agent')) >
  0
