import type { AgentInfo } from '@crux/agent-protocol'
import type { NodeType } from '@crux/contract'
import { fingerprint, hashToken, makeToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { nothing, type Queries, sql } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { requireEngine } from './node-engine.ts'

export type TokenOwner = {
  nodeId: string
  nodeType: NodeType
  teamId: string
  nodeName: string
  issuedAt: Date
  /** True while a next token waits for confirmation. */
  rotating: boolean
  firstUse: boolean
  /** The hash of the token that this call invalidated. */
  replacedHash: string | undefined
}
type FoundToken = Omit<TokenOwner, 'firstUse' | 'replacedHash'> & {
  previousHash: string
  isNext: boolean
  usedAt: Date | null
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
  const found =
    await sql`select t.node_id, n.type as node_type, n.team_id, n.name as node_name, t.hash as previous_hash,
      t.next_hash is not distinct from ${hash} as is_next, t.next_hash is not null as rotating, t.used_at,
      t.created_at as issued_at
    from crux.node_token t join crux.node n on n.id = t.node_id
    where t.hash = ${hash} or t.next_hash = ${hash}`.first<FoundToken>(app.database.pool)
  if (!found) return undefined
  const { isNext, usedAt, previousHash, ...owner } = found
  if (isNext) {
    // Called before the token is invalid, so that calls with the invalid token can be explained.
    replacing(previousHash, owner.nodeId)
    await confirmToken(app, hash)
    return { ...owner, issuedAt: new Date(), rotating: false, firstUse: false, replacedHash: previousHash }
  }
  if (!usedAt) await sql`update crux.node_token set used_at = now() where hash = ${hash}`.execute(app.database.pool)
  return { ...owner, firstUse: !usedAt, replacedHash: undefined }
}

/** Invalidates the previous token. */
async function confirmToken(app: App, hash: string): Promise<void> {
  const replaced = await sql`update crux.node_token
    set hash = ${hash}, next_hash = null, next_token = null, used_at = now(), created_at = now()
    where next_hash = ${hash} returning node_id`.column(app.database.pool)
  for (const nodeId of replaced) app.log.info({ nodeId }, 'connection token replaced')
}

/**
 * Exchanges an install token for a connection token. A lost answer does no harm: the same agent (same public key) gets
 * another token while the install token is valid and none of the new ones was used.
 *
 * @param info.nodeId checked when it is not empty; a text that is no id is refused
 * @returns undefined when the install token is not (or no longer) valid for this node and key
 * @throws ConnectError for an agent of another engine than the node's; the token stays valid
 */
export function exchangeToken(
  app: App,
  installToken: string,
  info: Pick<AgentInfo, 'engine' | 'nodeId' | 'publicKey'>,
): Promise<{ token: string; nodeId: string; teamId: string; first: boolean } | undefined> {
  return inTransaction(app.database, async (queries) => {
    // An agent that was given only a token learns its node here.
    const ofNode = info.nodeId ? sql`and i.node_id = ${info.nodeId}` : nothing
    const install = await sql`select i.node_id, i.created_by, n.team_id, n.type
      from crux.node_install i join crux.node n on n.id = i.node_id
      where i.token_hash = ${hashToken(installToken)} and i.expires_at > now() ${ofNode}
      for update of i`.first<{ nodeId: string; createdBy: string; teamId: string; type: NodeType }>(queries)
    if (!install) return undefined
    requireEngine(install.type, info.engine)
    const { nodeId, createdBy, teamId } = install
    const token = makeToken()
    const written = await sql`insert into crux.node_token as t (node_id, hash, exchanged_by, created_by)
      values (${nodeId}, ${hashToken(token)}, ${fingerprint(info.publicKey)}, ${createdBy})
      on conflict (node_id) do update set hash = excluded.hash
      where t.used_at is null and t.exchanged_by = excluded.exchanged_by`.execute(queries)
    if (written === 0) return undefined
    const burnt = await sql`update crux.node_install set exchanged_at = now()
      where node_id = ${nodeId} and exchanged_at is null`.execute(queries)
    return { token, nodeId, teamId, first: burnt > 0 }
  })
}

export const hasToken = async (app: App, nodeId: string) => (await selectIssuedAt(app, nodeId)) !== undefined

/** The next token of the agent. It stays the same until it is confirmed, because the agent may have it already. */
export async function nextToken(app: App, nodeId: string): Promise<string | undefined> {
  const fresh = makeToken()
  const location = { column: 'node_token.next_token', row: nodeId } as const
  const sealed = await sql`update crux.node_token set next_hash = coalesce(next_hash, ${hashToken(fresh)}),
      next_token = coalesce(next_token, ${app.cipher.encrypt(fresh, location)})
    where node_id = ${nodeId} returning next_token`.value(app.database.pool)
  return sealed === undefined ? undefined : app.cipher.decrypt(sealed, location)
}

/** When the current token of a node was issued. */
export const selectIssuedAt = (app: App, nodeId: string) =>
  sql`select created_at from crux.node_token where node_id = ${nodeId}`.value<Date>(app.database.pool)

/** Whether it is the token of an agent, or of an installation or update that was not completed. */
export const isAgentToken = async (queries: Queries, hash: string): Promise<boolean> =>
  (await sql`select from crux.node_token where hash = ${hash} or next_hash = ${hash}
    union all select from crux.node_install where token_hash = ${hash}
    union all select from crux.node_update where (token_hash = ${hash} and ended_at is null) or previous_hash = ${hash}
    limit 1`.execute(queries, 'token of an agent')) > 0
