import type { NodeCluster, NodeEventType } from '@crux/contract'
import { sql } from 'drizzle-orm'
import { boolean, index, jsonb, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, icon, id, ownedBy, sealedText } from './columns.ts'
import { team } from './teams.ts'

export const node = crux.table(
  'node',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    type: text({ enum: ['docker', 'k8s'] })
      .notNull()
      .default('docker'),
    description: text(),
    icon: icon(),
    ...audit,
    /** What the agent reported at its last connection; kept while the agent is unavailable. */
    address: text(),
    agentVersion: text(),
    engineVersion: text(),
    operatingSystem: text(),
    architecture: text(),
    publicKey: text(),
    connectedAt: at(),
    disconnectedAt: at(),
    /** The end of the link whose loss was reported to the team, until the node is back. */
    unreachableSince: at(),
    /**
     * The current link: the server process that holds it, and the id of the link. Null while the agent is unavailable.
     */
    linkServer: text(),
    linkSession: text(),
    /** True when this console's own machine runs the agent ("use this machine") and supervises it. */
    localAgent: boolean().notNull().default(false),
    /** Whether the agent can replace itself by another image; reported at its last connection. */
    agentUpdatable: boolean().notNull().default(false),
    /** Settings of a Kubernetes node; null until an admin saves them. */
    cluster: jsonb().$type<NodeCluster>(),
  },
  (table) => [
    uniqueIndex('node_name').on(table.teamId, table.name),
    index('node_link').on(table.linkServer),
    // Both are almost always empty: what has to be reported.
    index('node_unreported').on(table.disconnectedAt).where(sql`link_server is null and unreachable_since is null`),
    index('node_back').on(table.id).where(sql`link_server is not null and unreachable_since is not null`),
  ],
)

/**
 * Deleted nodes. Their containers may still run and carry their ids; an agent of the team on the same engine may manage
 * them (nodes/engine-scope-store.ts).
 */
export const deletedNode = crux.table(
  'deleted_node',
  {
    nodeId: uuid().primaryKey(),
    teamId: ownedBy(() => team.id),
    deletedAt: at().notNull().defaultNow(),
  },
  (table) => [
    index('deleted_node_newest').on(
      table.teamId,
      table.deletedAt.desc().nullsFirst(),
      table.nodeId.desc().nullsFirst(),
    ),
  ],
)

/** The connection token of a node's agent: a hash, and during a rotation the hash of the next one. */
export const nodeToken = crux.table('node_token', {
  nodeId: uuid()
    .primaryKey()
    .references(() => node.id, { onDelete: 'cascade' }),
  hash: text().notNull().unique(),
  nextHash: text().unique(),
  /** The next token, encrypted. If the agent may have missed it, it is sent again, never a third one. */
  nextToken: sealedText(),
  /**
   * The fingerprint of the public key of the agent that exchanged the install token; only this agent may repeat the
   * exchange.
   */
  exchangedBy: text().notNull(),
  usedAt: at(),
  createdAt: at().notNull().defaultNow(),
  createdBy: text().notNull(),
})

/** What the administrator chose for the install script. */
export type InstallOptions = {
  rootPath?: string | null
  dagentTraefik?: { acmeEmail: string } | null
  workloadName?: string | null
  namespaces?: readonly string[] | null
}

/** An install script that has not been run: single use, valid for 10 minutes. */
export const nodeInstall = crux.table('node_install', {
  nodeId: uuid()
    .primaryKey()
    .references(() => node.id, { onDelete: 'cascade' }),
  tokenHash: text().notNull().unique(),
  /** The token, encrypted, so that the page can show the command again after a reload. */
  token: sealedText().notNull(),
  scriptType: text({ enum: ['shell', 'powershell'] }).notNull(),
  options: jsonb().$type<InstallOptions>().notNull(),
  createdBy: text().notNull(),
  createdAt: at().notNull().defaultNow(),
  expiresAt: at().notNull(),
  /** Set at the exchange, which invalidates the token. */
  exchangedAt: at(),
})

/** The update of a node's agent that is in progress, or the last one (docs/agent-update.md). */
export const nodeUpdate = crux.table(
  'node_update',
  {
    nodeId: uuid()
      .primaryKey()
      .references(() => node.id, { onDelete: 'cascade' }),
    id: uuid().notNull(),
    state: text({ enum: ['preparing', 'ready', 'closed', 'completed', 'failed'] }).notNull(),
    /** The token of the new agent. It is the node's connection token once the update is completed. */
    tokenHash: text().notNull().unique(),
    /** The same, encrypted, because every process may send the command. Null when the update has ended. */
    token: sealedText(),
    /** The token that the update replaced: its agent may still ask how the update ended. */
    previousHash: text().unique(),
    /** To be pulled; null for the server's own image. */
    image: text(),
    fromVersion: text().notNull(),
    startedById: text().notNull(),
    startedByName: text().notNull(),
    startedAt: at().notNull().defaultNow(),
    deadlineAt: at().notNull(),
    endedAt: at(),
    /** Why it failed, for users. */
    error: text(),
  },
  (table) => [index('node_update_open').on(table.deadlineAt).where(sql`ended_at is null`)],
)

export const nodeEvent = crux.table(
  'node_event',
  {
    id: id(),
    nodeId: ownedBy(() => node.id),
    createdAt: at().notNull().defaultNow(),
    event: text().$type<NodeEventType>().notNull(),
    data: jsonb().$type<Record<string, unknown>>(),
  },
  (table) => [
    index('node_event_newest').on(table.nodeId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst()),
  ],
)

/** The running server processes. One without a heartbeat for 15 s counts as dead, and the others clear its links. */
export const serverProcess = crux.table('server_process', {
  id: text().primaryKey(),
  /** Host, data directory and port: a process that starts under this name knows that previous ones of this name have ended. */
  name: text().notNull(),
  startedAt: at().notNull().defaultNow(),
  heartbeatAt: at().notNull().defaultNow(),
})
