import type { NodeStatus } from '@crux/contract'
import { and, count, desc, eq, getTableColumns, gt, gte, isNull, lt, sql } from 'drizzle-orm'
import { isSupported } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { type Queries, sql as statement } from '../db/queries.ts'
import { deployment, node, nodeEvent, nodeInstall, nodeToken, team } from '../db/schema/index.ts'

export type NodeRow = typeof node.$inferSelect
export type InstallRow = typeof nodeInstall.$inferSelect

/** The data of a node in lists and live messages. */
export type NodeFace = Pick<
  NodeRow,
  | 'id'
  | 'name'
  | 'type'
  | 'description'
  | 'icon'
  | 'address'
  | 'agentVersion'
  | 'engineVersion'
  | 'operatingSystem'
  | 'connectedAt'
  | 'linkServer'
>

/** Sorted by name, as the page shows them first. */
export const findNodes = (app: App, teamId: string) =>
  statement`select id, name, type, description, icon, address, agent_version, engine_version, operating_system,
      connected_at, link_server
    from crux.node where team_id = ${teamId} order by name`.shared<NodeFace>(app.database, 'nodes of team')

/** A node of this team; undefined also for a node of another team. */
export async function findNode(app: App, teamId: string, nodeId: string): Promise<NodeRow | undefined> {
  const [row] = await app.database.db
    .select()
    .from(node)
    .where(and(eq(node.id, nodeId), eq(node.teamId, teamId)))
  return row
}

/** Whether the team has this node. */
export const hasNode = async (queries: Queries, teamId: string, nodeId: string): Promise<boolean> =>
  (await statement`select from crux.node where id = ${nodeId} and team_id = ${teamId}`.execute(queries)) === 1

/** The node with the other data of its page, in one query. The script is included only while it can be run. */
export async function findNodeDetails(app: App, teamId: string, nodeId: string) {
  const [row] = await app.database.db
    .select({
      ...getTableColumns(node),
      hasToken: sql<boolean>`${nodeToken.nodeId} is not null`,
      install: nodeInstall,
      inUse: sql<boolean>`exists (select from ${deployment} where ${deployment.nodeId} = ${node.id})`,
      teamSlug: team.slug,
    })
    .from(node)
    .innerJoin(team, eq(team.id, node.teamId))
    .leftJoin(nodeToken, eq(nodeToken.nodeId, node.id))
    .leftJoin(
      nodeInstall,
      and(eq(nodeInstall.nodeId, node.id), gt(nodeInstall.expiresAt, sql`now()`), isNull(nodeInstall.exchangedAt)),
    )
    .where(and(eq(node.id, nodeId), eq(node.teamId, teamId)))
  return row
}

/** The install script of this token, for the node and team of the address. */
export async function findInstallByToken(
  app: App,
  where: { teamSlug: string; nodeId: string; tokenHash: string },
): Promise<{ node: { id: string; name: string; teamSlug: string }; install: InstallRow } | undefined> {
  const [row] = await app.database.db
    .select({ id: node.id, name: node.name, teamSlug: team.slug, install: nodeInstall })
    .from(nodeInstall)
    .innerJoin(node, eq(node.id, nodeInstall.nodeId))
    .innerJoin(team, eq(team.id, node.teamId))
    .where(
      and(
        eq(nodeInstall.tokenHash, where.tokenHash),
        eq(node.id, where.nodeId),
        eq(team.slug, where.teamSlug),
        gt(nodeInstall.expiresAt, sql`now()`),
        isNull(nodeInstall.exchangedAt),
      ),
    )
  return row && { node: row, install: row.install }
}

/** Newest first; both dates are inclusive. */
export async function findNodeEvents(
  app: App,
  nodeId: string,
  query: { skip: number; take: number; from: Date; to: Date; filterEventType?: string | undefined },
) {
  const where = and(
    eq(nodeEvent.nodeId, nodeId),
    gte(nodeEvent.createdAt, query.from),
    // The column has milliseconds, and so has `to`.
    lt(nodeEvent.createdAt, new Date(query.to.getTime() + 1)),
    query.filterEventType ? sql`${nodeEvent.event} = ${query.filterEventType}` : undefined,
  )
  const [items, [total]] = await Promise.all([
    app.database.db
      .select({ createdAt: nodeEvent.createdAt, event: nodeEvent.event, data: nodeEvent.data })
      .from(nodeEvent)
      .where(where)
      .orderBy(desc(nodeEvent.createdAt), desc(nodeEvent.id))
      .limit(query.take)
      .offset(query.skip),
    app.database.db.select({ total: count() }).from(nodeEvent).where(where),
  ])
  return { items, total: total?.total ?? 0 }
}

/** The status by the stored data, so that every server process reports the same. */
export function statusOf(row: Pick<NodeRow, 'linkServer' | 'agentVersion'>): NodeStatus {
  if (!row.linkServer) return 'unreachable'
  return isSupported(row.agentVersion ?? '') ? 'connected' : 'outdated'
}

type NodeValues = Pick<NodeRow, 'name' | 'description' | 'icon' | 'updatedBy'>

export async function insertNode(app: App, teamId: string, values: NodeValues): Promise<NodeRow> {
  const [row] = await app.database.db
    .insert(node)
    .values({ ...values, teamId, createdBy: values.updatedBy })
    .returning()
  if (!row) throw new Error('the node was not stored')
  return row
}

/** @returns false when it is not in this team */
export async function updateNodeRow(app: App, teamId: string, nodeId: string, values: NodeValues): Promise<boolean> {
  const { rowCount } = await app.database.db
    .update(node)
    .set({ ...values, updatedAt: new Date() })
    .where(and(eq(node.id, nodeId), eq(node.teamId, teamId)))
  return rowCount === 1
}

/** @returns false when it is not in this team */
export const lockNode = async (queries: Queries, teamId: string, nodeId: string): Promise<boolean> =>
  (await statement`select from crux.node
    where id = ${nodeId} and team_id = ${teamId} for update`.execute(queries)) === 1

export const hasDeployments = async (queries: Queries, nodeId: string): Promise<boolean> =>
  (await statement`select from crux.deployment where node_id = ${nodeId} limit 1`.execute(queries)) > 0

export const deleteNodeRow = (queries: Queries, nodeId: string) =>
  statement`delete from crux.node where id = ${nodeId}`.execute(queries)

/** @returns the install script that was deleted, whether it can still be run or not */
export async function deleteInstall(app: App, nodeId: string): Promise<InstallRow | undefined> {
  const [install] = await app.database.db.delete(nodeInstall).where(eq(nodeInstall.nodeId, nodeId)).returning()
  return install
}

/** Deletes the connection token, and the install token that could be exchanged again. @returns false without a token */
export function deleteTokens(app: App, nodeId: string): Promise<boolean> {
  return app.database.transaction(async (tx) => {
    await tx.delete(nodeInstall).where(eq(nodeInstall.nodeId, nodeId))
    return (await tx.delete(nodeToken).where(eq(nodeToken.nodeId, nodeId))).rowCount === 1
  })
}

export async function upsertInstall(app: App, values: typeof nodeInstall.$inferInsert): Promise<InstallRow> {
  const [install] = await app.database.db
    .insert(nodeInstall)
    .values(values)
    .onConflictDoUpdate({ target: nodeInstall.nodeId, set: values })
    .returning()
  if (!install) throw new Error('the install token was not stored')
  return install
}

export const insertNodeEvent = ({ db }: App['database'], event: typeof nodeEvent.$inferInsert) =>
  db.insert(nodeEvent).values(event)

/** Whether the node is there, and this machine runs its agent. */
export async function isLocal(app: App, nodeId: string): Promise<boolean> {
  const [row] = await app.database.db.select({ local: node.localAgent }).from(node).where(eq(node.id, nodeId))
  return row?.local ?? false
}

export const setLocal = (app: App, nodeId: string, local: boolean) =>
  app.database.db
    .update(node)
    .set(local ? { localAgent: true, type: 'docker' } : { localAgent: false })
    .where(eq(node.id, nodeId))

export const selectLocal = (app: App) => app.database.db.select().from(node).where(eq(node.localAgent, true))

/** Whether an agent has used the connection token of the node. */
export async function hasUsedToken(app: App, nodeId: string): Promise<boolean> {
  const [token] = await app.database.db
    .select({ usedAt: nodeToken.usedAt })
    .from(nodeToken)
    .where(eq(nodeToken.nodeId, nodeId))
  return Boolean(token?.usedAt)
}

export const deleteConnectionToken = (app: App, nodeId: string) =>
  app.database.db.delete(nodeToken).where(eq(nodeToken.nodeId, nodeId))

/** A node of any team, for messages about a change that its team gets. */
export async function findNodeOfAnyTeam(app: App, nodeId: string): Promise<NodeRow | undefined> {
  const [row] = await app.database.db.select().from(node).where(eq(node.id, nodeId))
  return row
}
