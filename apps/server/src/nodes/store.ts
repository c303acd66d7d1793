import type { NodeCluster, NodeStatus, NodeType, Query } from '@crux/contract'
import { and, sql as drizzleSql, eq, getTableColumns, gt, isNull } from 'drizzle-orm'
import { isSupported, serverVersion } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { nothing, type Queries, sql } from '../db/queries.ts'
import {
  deployment,
  node,
  nodeEvent,
  nodeInstall,
  nodeToken,
  nodeUpdate,
  packageEnvironment,
  team,
} from '../db/schema/index.ts'
import { inTransaction } from '../db/transaction.ts'
import { isUpdatingSql } from './update-store.ts'

export type NodeRow = typeof node.$inferSelect
export type InstallRow = typeof nodeInstall.$inferSelect

/** The data of a node in lists and live messages. */
export type NodeSummary = Pick<
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
  | 'localAgent'
  | 'agentUpdatable'
> & { updating: boolean }

/** Sorted by name, as the page shows them first. */
export const findNodes = (app: App, teamId: string) =>
  sql`select id, name, type, description, icon, address, agent_version, engine_version, operating_system,
      connected_at, link_server, local_agent, agent_updatable, ${isUpdatingSql} as updating
    from crux.node n where team_id = ${teamId} order by name`.shared<NodeSummary>(app.database, 'nodes of team')

/** The nodes of this team among these, by id. */
export async function findNodesById(
  queries: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<Map<string, ReturnType<typeof toNode<NodeSummary>>>> {
  const rows = await sql`select id, name, type, description, icon, address, agent_version, engine_version,
      operating_system, connected_at, link_server, local_agent, agent_updatable, ${isUpdatingSql} as updating
    from crux.node n where id = any(${[...new Set(ids)]}::uuid[]) and team_id = ${teamId}`.rows<NodeSummary>(
    queries,
    'nodes by id',
  )
  return new Map(rows.map((row) => [row.id, toNode(row)]))
}

/** A node of this team; undefined also for a node of another team. */
export const findNode = (app: App, teamId: string, nodeId: string) =>
  sql`select * from crux.node where id = ${nodeId} and team_id = ${teamId}`.first<NodeRow>(app.database.pool)

/** What releases need of a node's engine. */
export const findNodeCluster = (queries: Queries, nodeId: string) =>
  sql`select type, cluster from crux.node where id = ${nodeId}`.first<Pick<NodeRow, 'type' | 'cluster'>>(
    queries,
    'cluster of node',
  )

/** The type of a node of this team; undefined also for a node of another team. */
export const findNodeType = (queries: Queries, teamId: string, nodeId: string) =>
  sql`select type from crux.node where id = ${nodeId} and team_id = ${teamId}`.value<NodeType>(queries)

/** Whether the team has this node. */
export const hasNode = async (queries: Queries, teamId: string, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.node where id = ${nodeId} and team_id = ${teamId}`.execute(queries)) === 1

/** The node with the other data of its page, in one query. The script is included only while it can be run. */
export async function findNodeDetails(app: App, teamId: string, nodeId: string) {
  const [row] = await app.database.db
    .select({
      ...getTableColumns(node),
      hasToken: drizzleSql<boolean>`${nodeToken.nodeId} is not null`,
      install: nodeInstall,
      updating: drizzleSql<boolean>`exists (select from ${nodeUpdate}
        where ${nodeUpdate.nodeId} = ${node.id} and ${nodeUpdate.endedAt} is null)`,
      inUse: drizzleSql<boolean>`(exists (select from ${deployment} where ${deployment.nodeId} = ${node.id})
        or exists (select from ${packageEnvironment} where ${packageEnvironment.nodeId} = ${node.id}))`,
      teamSlug: team.slug,
    })
    .from(node)
    .innerJoin(team, eq(team.id, node.teamId))
    .leftJoin(nodeToken, eq(nodeToken.nodeId, node.id))
    .leftJoin(
      nodeInstall,
      and(
        eq(nodeInstall.nodeId, node.id),
        gt(nodeInstall.expiresAt, drizzleSql`now()`),
        isNull(nodeInstall.exchangedAt),
      ),
    )
    .where(and(eq(node.id, nodeId), eq(node.teamId, teamId)))
  return row
}

/** The install script of this token, for the node and team of the address. */
export async function findInstallByToken(
  app: App,
  where: { teamSlug: string; nodeId: string; tokenHash: string },
): Promise<{ node: Pick<NodeRow, 'id' | 'name' | 'type'> & { teamSlug: string }; install: InstallRow } | undefined> {
  const [row] = await app.database.db
    .select({ id: node.id, name: node.name, type: node.type, teamSlug: team.slug, install: nodeInstall })
    .from(nodeInstall)
    .innerJoin(node, eq(node.id, nodeInstall.nodeId))
    .innerJoin(team, eq(team.id, node.teamId))
    .where(
      and(
        eq(nodeInstall.tokenHash, where.tokenHash),
        eq(node.id, where.nodeId),
        eq(team.slug, where.teamSlug),
        gt(nodeInstall.expiresAt, drizzleSql`now()`),
        isNull(nodeInstall.exchangedAt),
      ),
    )
  return row && { node: row, install: row.install }
}

/** Newest first; both dates are inclusive. */
export async function findNodeEvents(app: App, nodeId: string, query: Query<'nodes.audit'>) {
  const { from, to, filterEventType: event } = query
  const where = sql`where node_id = ${nodeId} and created_at between ${from} and ${to}
    ${event ? sql`and event = ${event}` : nothing}`
  const [items, total = 0] = await Promise.all([
    sql`select created_at, event, data from crux.node_event ${where}
      order by created_at desc, id desc offset ${query.skip} limit ${query.take}`.rows<
      Pick<typeof nodeEvent.$inferSelect, 'createdAt' | 'event' | 'data'>
    >(app.database.pool),
    sql`select count(*)::int from crux.node_event ${where}`.value<number>(app.database.pool),
  ])
  return { items, total }
}

/** Whether an update is offered: the agent is connected, and has another version than this server. */
export const isUpdatable = (
  row: Pick<NodeRow, 'linkServer' | 'localAgent' | 'agentUpdatable' | 'agentVersion'> & { updating?: boolean },
): boolean => row.linkServer !== null && row.agentUpdatable && !row.localAgent && !row.updating && isOutOfDate(row)

export const isOutOfDate = ({ agentVersion }: Pick<NodeRow, 'agentVersion'>) => agentVersion !== serverVersion

/** The status by the stored data, so that every server process reports the same. */
export function getStatus(row: Pick<NodeRow, 'linkServer' | 'agentVersion'> & { updating?: boolean }): NodeStatus {
  // Also while the link changes from the old agent to the new one.
  if (row.updating) return 'updating'
  if (!row.linkServer) return 'unreachable'
  return isSupported(row.agentVersion ?? '') ? 'connected' : 'outdated'
}

/** The node as pages show it: what its agent reports of a link only while there is one. */
export function toNode<Row extends Omit<NodeSummary, 'updating'> & { updating?: boolean }>(row: Row) {
  const linked = row.linkServer !== null
  return {
    ...row,
    address: linked ? row.address : null,
    status: getStatus(row),
    connectedAt: linked ? row.connectedAt : null,
    version: linked ? row.agentVersion : null,
    updatable: isUpdatable(row),
  }
}

type NodeValues = Pick<NodeRow, 'name' | 'description' | 'icon' | 'updatedBy'> & { cluster?: NodeCluster }

export const insertNode = (
  queries: Queries,
  teamId: string,
  { cluster, name, description, icon, updatedBy }: NodeValues,
) =>
  sql`insert into crux.node (team_id, name, description, icon, cluster, created_by, updated_by)
    values (${teamId}, ${name}, ${description}, ${icon}, ${cluster ? JSON.stringify(cluster) : null}, ${updatedBy},
      ${updatedBy}) returning *`.one<NodeRow>(queries)

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
  (await sql`select from crux.node
    where id = ${nodeId} and team_id = ${teamId} for update`.execute(queries)) === 1

/** Locks the node until the transaction ends. @returns undefined when it is not in this team */
export const lockNodeRow = (queries: Queries, teamId: string, nodeId: string) =>
  sql`select * from crux.node
    where id = ${nodeId} and team_id = ${teamId} for update`.first<NodeRow>(queries)

export const hasDeployments = async (queries: Queries, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.deployment where node_id = ${nodeId} limit 1`.execute(queries)) > 0

/** Environments of packages on a node, as texts: the environment and its package. */
export const listEnvironmentNames = (queries: Queries, nodeId: string) =>
  sql`select e.name || ' of ' || k.name from crux.package_environment e join crux.package k on k.id = e.package_id
    where e.node_id = ${nodeId} order by k.name, e."order" limit 11`.column(queries, 'environments of node')

export const deleteNodeRow = (queries: Queries, nodeId: string) =>
  sql`delete from crux.node where id = ${nodeId}`.execute(queries)

/** @returns the install script that was deleted, whether it can still be run or not */
export const deleteInstall = (app: App, nodeId: string) =>
  sql`delete from crux.node_install where node_id = ${nodeId} returning *`.first<InstallRow>(app.database.pool)

/** Deletes the connection token, and the install token that could be exchanged again. @returns false without a token */
export const deleteTokens = (app: App, nodeId: string): Promise<boolean> =>
  inTransaction(app.database, async (queries) => {
    await sql`delete from crux.node_install where node_id = ${nodeId}`.execute(queries)
    // Its token would become the connection token.
    await sql`delete from crux.node_update where node_id = ${nodeId}`.execute(queries)
    return (await sql`delete from crux.node_token where node_id = ${nodeId}`.execute(queries)) === 1
  })

/** What kind of agent the next install script is for. */
export const setNodeType = (app: App, nodeId: string, type: NodeType) =>
  sql`update crux.node set type = ${type} where id = ${nodeId}`.execute(app.database.pool)

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
export const isLocal = async (app: App, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.node where id = ${nodeId} and local_agent`.execute(app.database.pool)) === 1

export const setLocal = (app: App, nodeId: string, local: boolean) =>
  sql`update crux.node set local_agent = ${local}, type = case when ${local} then 'docker' else type end
    where id = ${nodeId}`.execute(app.database.pool)

export const selectLocal = (app: App) =>
  sql`select id, team_id, updated_by from crux.node
    where local_agent`.rows<Pick<NodeRow, 'id' | 'teamId' | 'updatedBy'>>(app.database.pool)

/** Whether an agent has used the connection token of the node. */
export const hasUsedToken = async (app: App, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.node_token
    where node_id = ${nodeId} and used_at is not null`.execute(app.database.pool)) === 1

export const deleteConnectionToken = (app: App, nodeId: string) =>
  sql`delete from crux.node_token where node_id = ${nodeId}`.execute(app.database.pool)

/** A node of any team, for messages about a change that its team gets. */
export const findNodeOfAnyTeam = (app: App, nodeId: string) =>
  sql`select n.*, ${isUpdatingSql} as updating from crux.node n where id = ${nodeId}`.first<
    NodeRow & { updating: boolean }
  >(app.database.pool)
