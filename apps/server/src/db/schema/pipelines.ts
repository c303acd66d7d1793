import type { PipelineInput } from '@crux/contract'
import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import { at, audit, crux, icon, id, ownedBy, sealedText } from './columns.ts'
import { registry, team } from './teams.ts'

type Inputs = z.output<typeof PipelineInput>[]
/** The image of an event; its name is as in the registry. */
export type RunEvent = { registryId: string; imageName: string; tag: string; digest?: string | undefined }

export const pipeline = crux.table(
  'pipeline',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    type: text({ enum: ['azure', 'github', 'gitlab'] }).notNull(),
    description: text(),
    icon: icon(),
    organization: text().notNull(),
    project: text().notNull(),
    /** The service's own id of the project, where it has one. */
    externalProjectId: text(),
    branch: text(),
    triggerName: text().notNull(),
    /** The service's own id of the pipeline, where it has one. */
    externalPipelineId: text(),
    inputs: jsonb().$type<Inputs>().notNull().default([]),
    /** Encrypted, and never selected by queries that serve responses. */
    token: sealedText().notNull(),
    /** How often it has moved to another place at a service: numbers of runs are unique in one place only. */
    moves: integer().notNull().default(0),
    ...audit,
  },
  (table) => [uniqueIndex('pipeline_name').on(table.teamId, table.name)],
)

/** The webhook at the service that reports the state of runs. */
export const pipelineHook = crux.table('pipeline_hook', {
  pipelineId: uuid()
    .primaryKey()
    .references(() => pipeline.id, { onDelete: 'cascade' }),
  /** The service's id; null where none was created. */
  externalId: text(),
  /** Encrypted: what deliveries are verified with. */
  secret: sealedText(),
  problem: text(),
  lastDeliveryAt: at(),
})

export const pipelineEventWatcher = crux.table(
  'pipeline_event_watcher',
  {
    id: id(),
    pipelineId: ownedBy(() => pipeline.id),
    registryId: ownedBy(() => registry.id),
    name: text().notNull(),
    event: text({ enum: ['image-push', 'image-pull'] }).notNull(),
    imageNameStartsWith: text().notNull().default(''),
    inputs: jsonb().$type<Inputs>().notNull().default([]),
    ...audit,
  },
  (table) => [
    index('pipeline_event_watcher_pipeline').on(table.pipelineId),
    index('pipeline_event_watcher_registry').on(table.registryId, table.event),
  ],
)

export const pipelineRun = crux.table(
  'pipeline_run',
  {
    id: id(),
    pipelineId: ownedBy(() => pipeline.id),
    /** That of the pipeline when the run was created. */
    moves: integer().notNull().default(0),
    /** Null until the service has answered. */
    externalId: bigint({ mode: 'bigint' }),
    url: text(),
    status: text({ enum: ['unknown', 'queued', 'running', 'successful', 'failed'] }).notNull(),
    reason: text(),
    inputs: jsonb().$type<Inputs>().notNull().default([]),
    createdAt: at().notNull().defaultNow(),
    creatorType: text({ enum: ['user', 'eventWatcher'] }).notNull(),
    createdById: text().notNull(),
    createdByName: text().notNull(),
    eventWatcherId: uuid().references(() => pipelineEventWatcher.id, { onDelete: 'set null' }),
    /** For a run that a watcher started: the event, so that each event leads to one run of a watcher. */
    eventKey: text(),
    /** What the placeholders of its inputs mean; null once they are replaced. */
    event: jsonb().$type<RunEvent>(),
    /** When a server took it on to ask the service for the run, which happens once; null before. */
    requestedAt: at(),
    /** When the service last reported its state. */
    reportedAt: at(),
    finishedAt: at(),
    /** When the service is asked for the run or its state next; null after the end. */
    nextCheckAt: at(),
    checks: integer().notNull().default(0),
  },
  (table) => [
    uniqueIndex('pipeline_run_external').on(table.pipelineId, table.moves, table.externalId),
    uniqueIndex('pipeline_run_event').on(table.pipelineId, table.eventKey).where(sql`event_key is not null`),
    index('pipeline_run_newest').on(
      table.pipelineId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('pipeline_run_due').on(table.nextCheckAt).where(sql`next_check_at is not null`),
  ],
)
