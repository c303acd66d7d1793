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
import { at, audit, crux, id, ownedBy } from './columns.ts'
import { node } from './nodes.ts'
import { image, project, version } from './projects.ts'
import { registry, team } from './teams.ts'

export const deployment = crux.table(
  'deployment',
  {
    id: id(),
    /** Team and project repeat the version's, so that the deployments of a team are listed with one index scan. */
    teamId: ownedBy(() => team.id),
    projectId: ownedBy((): AnyPgColumn => project.id),
    versionId: ownedBy((): AnyPgColumn => version.id),
    nodeId: uuid()
      .notNull()
      .references(() => node.id, { onDelete: 'restrict' }),
    prefix: text().notNull(),
    status: text({ enum: ['preparing', 'in-progress', 'successful', 'failed', 'obsolete'] })
      .notNull()
      .default('preparing'),
    protected: boolean().notNull().default(false),
    note: text(),
    /** The number of the last release; 0 before the first. */
    attempts: integer().notNull().default(0),
    deployedAt: at(),
    deployedBy: text(),
    /** The text of the last outcome, for lists. */
    outcome: text(),
    ...audit,
  },
  (table) => [
    index('deployment_newest').on(table.teamId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst()),
    /** This index serves the counts by status and the list of one status. */
    index('deployment_by_status').on(
      table.teamId,
      table.status,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('deployment_version').on(table.versionId),
    index('deployment_project').on(table.projectId),
    index('deployment_node').on(table.nodeId, table.createdAt.desc().nullsFirst()),
    index('deployment_target').on(table.nodeId, table.prefix, table.projectId),
    uniqueIndex('deployment_one_preparing')
      .on(table.versionId, table.nodeId, table.prefix)
      .where(sql`status = 'preparing'`),
    /** Rows that belong to a deployment refer to both columns, so that they stay in its team. */
    unique('deployment_of_team').on(table.id, table.teamId),
  ],
)

/**
 * Deployments of a team by status. Triggers append a difference with every change, and the sum is the number. Counting
 * the rows themselves takes 50 ms for each request of the list where a team has 100,000. Appending waits for no lock.
 */
export const deploymentCount = crux.table(
  'deployment_count',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    /** There is no foreign key, because rows that are deleted with their team are still counted down. */
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
    deploymentId: ownedBy(() => deployment.id),
    imageId: ownedBy((): AnyPgColumn => image.id),
    updatedAt: at().notNull().defaultNow(),
    /** What a new digest of the image's tag leads to: nothing, a notice on the page, or a release. */
    follow: text({ enum: ['off', 'notify', 'deploy'] })
      .notNull()
      .default('off'),
    /** The user who switched it on. Releases start with their rights. */
    followedBy: text(),
    /** Why the server changed `deploy` to `notify`, or why the last start was refused. */
    followProblem: text(),
    /** The last digest that following started a release for: it is not tried twice, whatever the agent reported of it. */
    followDigest: text(),
    /** When it is decided again whether a release starts; null when nothing waits. */
    followDueAt: at(),
  },
  (table) => [
    uniqueIndex('instance_image').on(table.deploymentId, table.imageId),
    index('instance_by_image').on(table.imageId),
    index('instance_following').on(table.imageId).where(sql`follow <> 'off'`),
    index('instance_follow_due').on(table.followDueAt).where(sql`follow_due_at is not null`),
  ],
)

/** There is no foreign key, because only the last deliveries of a registry are kept. */
const deliveryIds = () => uuid().array().notNull().default([])

/**
 * A tag that instances follow, with the digest that the registry last reported: one row however many instances follow
 * it. Several servers share the checks: a check is claimed, and a claim of a server that has ended expires.
 */
export const followedTag = crux.table(
  'followed_tag',
  {
    id: id(),
    registryId: ownedBy((): AnyPgColumn => registry.id),
    /** The name of the image below the prefix of its registry. */
    name: text().notNull(),
    tag: text().notNull(),
    /** Null before the first successful check. */
    digest: text(),
    /** When the digest was first seen. */
    digestAt: at(),
    /** The deliveries of hooks that led to the check that found the digest, and reported no other one. */
    digestDeliveries: deliveryIds(),
    checkedAt: at(),
    nextCheckAt: at().notNull().defaultNow(),
    /** The last event of the registry that named the image. */
    pushedAt: at(),
    /** The deliveries of hooks that requested the next check, the newest first. */
    requestedBy: deliveryIds(),
    claimedAt: at(),
    /** Why the last check failed; null after a success. */
    error: text(),
    failures: integer().notNull().default(0),
    /** The registry refuses requests until then; events do not cause an earlier check. */
    blockedUntil: at(),
  },
  (table) => [
    uniqueIndex('followed_tag_once').on(table.registryId, table.name, table.tag),
    index('followed_tag_due').on(table.nextCheckAt),
  ],
)

/** An immutable record of what a start deploys; each start has one. */
export const release = crux.table(
  'release',
  {
    id: id(),
    deploymentId: ownedBy(() => deployment.id),
    number: integer().notNull(),
    teamId: uuid().notNull(),
    projectId: uuid().notNull(),
    nodeId: ownedBy(() => node.id),
    prefix: text().notNull(),
    versionName: text().notNull(),
    projectName: text().notNull(),
    status: text({ enum: ['in-progress', 'successful', 'failed'] })
      .notNull()
      .default('in-progress'),
    reason: text(),
    recreate: boolean().notNull().default(false),
    partial: boolean().notNull().default(false),
    /** It takes back what other programs have changed in the cluster; every other release stops at such a field. */
    takeBackFields: boolean().notNull().default(false),
    hostDangerousAllowed: boolean().notNull().default(false),
    /** The release of this deployment whose digests this one repeats (a rollback). */
    sourceNumber: integer(),
    startedAt: at().notNull().defaultNow(),
    startedById: text().notNull(),
    startedByName: text().notNull(),
    /** What started it; null for releases of before this was recorded. */
    trigger: text({ enum: ['user', 'token', 'follow'] }),
    /** For `follow`: the digest that started it, as a text. */
    triggerReason: text(),
    /** The reason of an admin for starting it during a freeze window. */
    overrideFreeze: text(),
    /** For `follow`: the deliveries of hooks that reported the digest. */
    deliveryIds: deliveryIds(),
    /** When the release was first dispatched to the agent; null while it waits in the node's queue. */
    dispatchedAt: at(),
    finishedAt: at(),
    cancelRequestedBy: text(),
    /**
     * The lease ends at this time unless the agent connects. It is extended while the agent is connected, and paused
     * while no server listens.
     */
    leaseUntil: at(),
    /** The last event sequence of the agent's journal that is stored. */
    acknowledgedSequence: bigint({ mode: 'number' }).notNull().default(0),
    /** True for the one release of a project whose containers run on this node under this prefix. */
    current: boolean().notNull().default(false),
    /** The full names of the containers that run for this release, as the agent reported them. */
    containerNames: jsonb().$type<string[]>().notNull().default([]),
    /** Its events were deleted because they were older than the retention period. */
    eventsDropped: boolean().notNull().default(false),
  },
  (table) => [
    uniqueIndex('release_number').on(table.deploymentId, table.number),
    uniqueIndex('release_current').on(table.nodeId, table.prefix, table.projectId).where(sql`current`),
    uniqueIndex('release_one_running').on(table.deploymentId).where(sql`status = 'in-progress'`),
    /**
     * The agent has one release per deployment target. The next one is built from what this one left, once it has
     * ended.
     */
    uniqueIndex('release_one_dispatched')
      .on(table.nodeId, table.prefix)
      .where(sql`status = 'in-progress' and dispatched_at is not null`),
    index('release_target').on(table.nodeId, table.prefix, table.projectId, table.startedAt.desc().nullsFirst()),
    /** This index serves the retention of events, the oldest first. */
    index('release_with_events')
      .on(table.finishedAt, table.id)
      .where(sql`not events_dropped and status <> 'in-progress'`),
    /** The last successful releases of a deployment target keep their images. */
    index('release_successful')
      .on(table.nodeId, table.prefix, table.projectId, table.finishedAt.desc().nullsLast())
      .where(sql`status = 'successful'`),
    /** The deployments of a team per day and their times, and the newest failed ones, from the index alone. */
    index('release_finished')
      .on(table.teamId, table.status, table.finishedAt.desc().nullsFirst(), table.dispatchedAt)
      .where(sql`status <> 'in-progress'`),
    index('release_open').on(table.nodeId, table.startedAt).where(sql`status = 'in-progress'`),
    index('release_deliveries').using('gin', table.deliveryIds).where(sql`delivery_ids <> '{}'`),
  ],
)

export const releaseInstance = crux.table(
  'release_instance',
  {
    id: id(),
    releaseId: ownedBy(() => release.id),
    /** There is no foreign key, because a release outlives an image that is removed later. */
    instanceId: uuid().notNull(),
    order: integer().notNull(),
    registryId: uuid(),
    containerName: text().notNull(),
    imageName: text().notNull(),
    imageTag: text().notNull(),
    localOnly: boolean().notNull().default(false),
    /** The agent reports the digest after it has resolved the tag. */
    digest: text(),
    /**
     * The digests of the images of init and config containers, by "name:tag" and, where the configuration has one,
     * "@digest".
     */
    preparationDigests: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** The value is a FinalContainerConfig of the contract. */
    config: jsonb().notNull(),
    /** The last phase and its state, for lists and the progress bar. */
    phase: text(),
    phaseState: text(),
  },
  (table) => [uniqueIndex('release_instance_once').on(table.releaseId, table.instanceId)],
)

/**
 * Images that releases of a node have used, so that recognising one does not read all releases of the node. A row
 * outlives the deployment, because the team still knows the image.
 */
export const nodeImage = crux.table(
  'node_image',
  {
    nodeId: ownedBy(() => node.id),
    digest: text().notNull(),
    name: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.digest, table.name] })],
)

/**
 * What an admin confirmed by starting it in a session: a token may start a host-dangerous instance only exactly as
 * confirmed. There is one row per instance, so that a start of some instances needs only their confirmations.
 */
export const dangerConfirmation = crux.table(
  'danger_confirmation',
  {
    id: id(),
    deploymentId: ownedBy(() => deployment.id),
    /** There is no foreign key, because a rollback to an earlier release is possible after its image was removed. */
    instanceId: uuid().notNull(),
    hash: text().notNull(),
    /** The content that was hashed, to describe what has changed since. */
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
    /** The order over all events; the wire calls it sequence. */
    position: bigserial({ mode: 'number' }).primaryKey(),
    deploymentId: ownedBy(() => deployment.id),
    attempt: integer().notNull(),
    /** The position in the agent's journal; null for events of the server itself. */
    agentSequence: bigint({ mode: 'number' }),
    createdAt: at().notNull().defaultNow(),
    type: text({ enum: ['log', 'deployment-status', 'container-state', 'container-progress', 'phase'] }).notNull(),
    instanceId: text(),
    value: jsonb().notNull(),
  },
  (table) => [
    index('deployment_event_order').on(table.deploymentId, table.attempt, table.position),
    uniqueIndex('deployment_event_once').on(table.deploymentId, table.attempt, table.agentSequence),
  ],
)

/** What the request to run an image created, so that the same request is answered with it when it is repeated. */
export const imageRun = crux.table(
  'image_run',
  {
    teamId: ownedBy(() => team.id),
    /** Chosen by the caller. */
    key: uuid().notNull(),
    /** The hash of the request: the same key with another request is refused. */
    requestHash: text().notNull(),
    projectId: ownedBy((): AnyPgColumn => project.id),
    versionId: uuid().notNull(),
    deploymentId: uuid().notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.key] }), index('image_run_project').on(table.projectId)],
)
