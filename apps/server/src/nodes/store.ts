import type { NodeStatus } from '@crux/contract'
import { and, count, desc, eq, getTableColumns, gt, gte, isNull, lt, sql } from 'drizzle-orm'
import { isSupported } from '../agent-links/index.ts'
import type { App } from '../context.ts'
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
export function findNodes(app: App, teamId: string): Promise<readonly NodeFace[]> {
  return app.database.sharedRead<NodeFace>({
    name: 'nodes of team',
    text: `select id, name, type, description, icon, address, agent_version,
        engine_version, operating_system, connected_at,
        link_server
      from crux.node where team_id = $1 order by name`,
    values: [teamId],
  })
}

/** A node of this team; undefined also for a node of another team. */
export async function findNode(app: App, teamId: string, nodeId: string): Promise<NodeRow | undefined> {
  const [row] = await app.database.db
    .select()
    .from(node)
    .where(and(eq(node.id, nodeId), eq(node.teamId, teamId)))
  return row
}

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
