import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { at, audit, crux, id } from './columns.ts'
import { node } from './nodes.ts'
import { image, project, version } from './projects.ts'
import { team } from './teams.ts'

export const deployment = crux.table(
  'deployment',
  {
    id: id(),
    /** Team and project repeat what the version says: the list of a team is one index scan. */
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    projectId: uuid()
      .notNull()
      .references((): AnyPgColumn => project.id, { onDelete: 'cascade' }),
    versionId: uuid()
      .notNull()
      .references((): AnyPgColumn => version.id, { onDelete: 'cascade' }),
    nodeId: uuid()
      .notNull()
      .references(() => node.id, { onDelete: 'restrict' }),
    prefix: text().notNull(),
    status: text({ enum: ['preparing', 'in-progress', 'successful', 'failed', 'obsolete'] })
      .notNull()
      .default('preparing'),
    protected: boolean().notNull().default(false),
    note: text(),
    /** Number of the last release, 0 before the first. */
    tries: integer().notNull().default(0),
    deployedAt: at(),
    deployedBy: text(),
    /** The last outcome in words, for lists. */
    outcome: text(),
    ...audit,
  },
  (table) => [
    index('deployment_newest').on(table.teamId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst()),
    /** Counts by status, and the list of one status. */
    index('deployment_by_status').on(
      table.teamId,
      table.status,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('deployment_version').on(table.versionId),
    index('deployment_project').on(table.projectId),
    index('deployment_node').on(table.nodeId, table.createdAt.desc().nullsFirst()),
    index('deployment_place').on(table.nodeId, table.prefix, table.projectId),
    uniqueIndex('deployment_one_preparing')
      .on(table.versionId, table.nodeId, table.prefix)
      .where(sql`status = 'preparing'`),
    /** What is attached to a deployment refers to both, and so stays in its team. */
    unique('deployment_of_team').on(table.id, table.teamId),
  ],
)

/**
 * Deployments of a team by status, as differences that triggers append with every change: the sum is the number. Counting the
 * rows themselves takes 50 ms where a team has 100,000, at every look at the list. Appending never waits for anybody.
 */
export const deploymentCount = crux.table(
  'deployment_count',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    /** Without a foreign key: rows that go with their team are still counted down. */
    teamId: uuid().notNull(),
    status: text().notNull(),
    difference: integer().notNull(),
  },
  (table) => [index('deployment_count_team').on(table.teamId)],
)

export const instance = crux.table(
  'instance',
  {
    id: id(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: 'cascade' }),
    imageId: uuid()
      .notNull()
      .references((): AnyPgColumn => image.id, { onDelete: 'cascade' }),
    updatedAt: at().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('instance_image').on(table.deploymentId, table.imageId),
    index('instance_by_image').on(table.imageId),
  ],
)

/** An immutable order of what shall run, one per start (architecture.md 8). */
export const release = crux.table(
  'release',
  {
    id: id(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    teamId: uuid().notNull(),
    projectId: uuid().notNull(),
    nodeId: uuid()
      .notNull()
      .references(() => node.id, { onDelete: 'cascade' }),
    prefix: text().notNull(),
    versionName: text().notNull(),
    projectName: text().notNull(),
    status: text({ enum: ['in-progress', 'successful', 'failed'] })
      .notNull()
      .default('in-progress'),
    reason: text(),
    recreate: boolean().notNull().default(false),
    partial: boolean().notNull().default(false),
    hostDangerousAllowed: boolean().notNull().default(false),
    /** The release of this deployment whose digests this one repeats (a rollback). */
    sourceNumber: integer(),
    startedAt: at().notNull().defaultNow(),
    startedById: text().notNull(),
    startedByName: text().notNull(),
    /** First handed to the agent; null while it waits in the node's queue. */
    handedAt: at(),
    finishedAt: at(),
    cancelRequestedBy: text(),
    /** The lease ends here unless the agent is heard; moved on while it is connected, and paused while no server listens. */
    leaseUntil: at(),
    /** Last event sequence of the agent's journal that is stored. */
    acknowledgedSequence: bigint({ mode: 'number' }).notNull().default(0),
    /** True for the one release of a project whose containers stand on this node under this prefix. */
    standing: boolean().notNull().default(false),
    /** Full names of the containers that stand under this release, as the agent reported. */
    containerNames: jsonb().$type<string[]>().notNull().default([]),
    /** Its events were older than the installation keeps. */
    eventsDropped: boolean().notNull().default(false),
  },
  (table) => [
    uniqueIndex('release_number').on(table.deploymentId, table.number),
    uniqueIndex('release_standing').on(table.nodeId, table.prefix, table.projectId).where(sql`standing`),
    uniqueIndex('release_one_running').on(table.deploymentId).where(sql`status = 'in-progress'`),
    /** The agent has one release per place; the next one is built when that has ended, from what it left. */
    uniqueIndex('release_one_handed')
      .on(table.nodeId, table.prefix)
      .where(sql`status = 'in-progress' and handed_at is not null`),
    index('release_place').on(table.nodeId, table.prefix, table.projectId, table.startedAt.desc().nullsFirst()),
    /** For the retention of events, the oldest first. */
    index('release_with_events')
      .on(table.finishedAt, table.id)
      .where(sql`not events_dropped and status <> 'in-progress'`),
    /** The last ones of a deployment target keep their images. */
    index('release_successful')
      .on(table.nodeId, table.prefix, table.projectId, table.finishedAt.desc().nullsLast())
      .where(sql`status = 'successful'`),
    index('release_open').on(table.nodeId, table.startedAt).where(sql`status = 'in-progress'`),
  ],
)

export const releaseInstance = crux.table(
  'release_instance',
  {
    id: id(),
    releaseId: uuid()
      .notNull()
      .references(() => release.id, { onDelete: 'cascade' }),
    /** No foreign key: a release outlives the image that was dropped later. */
    instanceId: uuid().notNull(),
    order: integer().notNull(),
    registryId: uuid(),
    containerName: text().notNull(),
    imageName: text().notNull(),
    imageTag: text().notNull(),
    localOnly: boolean().notNull().default(false),
    /** Reported by the agent after resolving the tag. */
    digest: text(),
    /** Likewise of the images of init and config containers, by "name:tag" and, where the configuration has one, "@digest". */
    preparationDigests: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** FinalContainerConfig of the contract. */
    config: jsonb().notNull(),
    /** Where it stands, for lists and the progress bar: last phase and its state. */
    phase: text(),
    phaseState: text(),
  },
  (table) => [uniqueIndex('release_instance_once').on(table.releaseId, table.instanceId)],
)

/**
 * Images that releases of a node have used, so that nothing reads all its releases to recognise one. It outlives the deployment:
 * the team knew the image.
 */
export const nodeImage = crux.table(
  'node_image',
  {
    nodeId: uuid()
      .notNull()
      .references(() => node.id, { onDelete: 'cascade' }),
    digest: text().notNull(),
    name: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.digest, table.name] })],
)

/**
 * What an admin confirmed by starting it in a session: a token may start a host-dangerous instance exactly so (decision 47). One per
 * instance, so that a start of some instances needs theirs alone.
 */
export const dangerConfirmation = crux.table(
  'danger_confirmation',
  {
    id: id(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: 'cascade' }),
    /** No foreign key: an earlier release may be gone back to after its image was dropped. */
    instanceId: uuid().notNull(),
    hash: text().notNull(),
    /** What the hash is of, to say what changed since. */
    subject: jsonb().notNull(),
    confirmedById: text().notNull(),
    confirmedByName: text().notNull(),
    confirmedAt: at().notNull().defaultNow(),
  },
  (table) => [uniqueIndex('danger_confirmation_instance').on(table.deploymentId, table.instanceId)],
)

export const deploymentEvent = crux.table(
  'deployment_event',
  {
    /** Order over all events; what the wire calls sequence. */
    position: bigserial({ mode: 'number' }).primaryKey(),
    deploymentId: uuid()
      .notNull()
      .references(() => deployment.id, { onDelete: 'cascade' }),
    try: integer().notNull(),
    /** Position in the agent's journal; null for what the server itself says. */
    agentSequence: bigint({ mode: 'number' }),
    createdAt: at().notNull().defaultNow(),
    type: text({ enum: ['log', 'deployment-status', 'container-state', 'container-progress', 'phase'] }).notNull(),
    instanceId: text(),
    value: jsonb().notNull(),
  },
  (table) => [
    index('deployment_event_order').on(table.deploymentId, table.try, table.position),
    uniqueIndex('deployment_event_once').on(table.deploymentId, table.try, table.agentSequence),
  ],
)
