import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { at, audit, crux, id } from './columns.ts'
import { deployment, instance } from './deployments.ts'
import { registry, team } from './teams.ts'

export const project = crux.table(
  'project',
  {
    id: id(),
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    description: text(),
    type: text({ enum: ['versionless', 'versioned'] }).notNull(),
    ...audit,
  },
  (table) => [uniqueIndex('project_name').on(table.teamId, table.name)],
)

export const version = crux.table(
  'version',
  {
    id: id(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    changelog: text(),
    type: text({ enum: ['incremental', 'rolling'] }).notNull(),
    default: boolean().notNull().default(false),
    autoCopyDeployments: boolean().notNull().default(false),
    /** The id of the chain's first version; rolling versions have none. */
    chainId: uuid(),
    /** The version that this one was increased from: one child each. */
    parentId: uuid().unique(),
    ...audit,
  },
  (table) => [
    uniqueIndex('version_name').on(table.projectId, table.name),
    uniqueIndex('version_default').on(table.projectId).where(sql`"default"`),
    foreignKey({ columns: [table.parentId], foreignColumns: [table.id], name: 'version_parent' }).onDelete('set null'),
    index('version_chain').on(table.chainId),
    index('version_order').on(table.projectId, table.id),
  ],
)

export const image = crux.table(
  'image',
  {
    id: id(),
    versionId: uuid()
      .notNull()
      .references(() => version.id, { onDelete: 'cascade' }),
    registryId: uuid()
      .notNull()
      .references(() => registry.id, { onDelete: 'restrict' }),
    name: text().notNull(),
    tag: text(),
    order: integer().notNull(),
    labels: jsonb().$type<Record<string, string>>().notNull().default({}),
    createdAt: at().notNull().defaultNow(),
    createdBy: text().notNull(),
    updatedAt: at().notNull().defaultNow(),
    updatedBy: text().notNull(),
  },
  (table) => [index('image_version').on(table.versionId, table.order), index('image_registry').on(table.registryId)],
)

/** One layer of configuration. It belongs to exactly one owner and goes with it; `fields` holds ContainerConfigFields of the contract. */
export const containerConfig = crux.table(
  'container_config',
  {
    id: id(),
    type: text({ enum: ['image', 'instance', 'deployment', 'config-bundle'] }).notNull(),
    imageId: uuid()
      .unique()
      .references(() => image.id, { onDelete: 'cascade' }),
    instanceId: uuid()
      .unique()
      .references(() => instance.id, { onDelete: 'cascade' }),
    deploymentId: uuid()
      .unique()
      .references(() => deployment.id, { onDelete: 'cascade' }),
    fields: jsonb().notNull().default({}),
    /** Grows with every change; a patch may name the one that it was made against (decision 20). */
    revision: integer().notNull().default(1),
    updatedAt: at().notNull().defaultNow(),
    updatedBy: text(),
  },
  (table) => [
    check(
      'container_config_owner',
      sql`num_nonnulls(${table.imageId}, ${table.instanceId}, ${table.deploymentId}) = 1`,
    ),
  ],
)

/** Which revision last changed which part of a configuration: `environment.LOG_LEVEL`, `ports`. */
export const containerConfigChange = crux.table(
  'container_config_change',
  {
    configId: uuid()
      .notNull()
      .references(() => containerConfig.id, { onDelete: 'cascade' }),
    property: text().notNull(),
    revision: integer().notNull(),
    updatedBy: text().notNull(),
    updatedAt: at().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.configId, table.property] })],
)
