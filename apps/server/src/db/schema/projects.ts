import { sql } from 'drizzle-orm'
import { boolean, foreignKey, index, integer, jsonb, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, id, ownedBy } from './columns.ts'
import { registry, team } from './teams.ts'

export const project = crux.table(
  'project',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
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
    projectId: ownedBy(() => project.id),
    name: text().notNull(),
    changelog: text(),
    type: text({ enum: ['incremental', 'rolling'] }).notNull(),
    default: boolean().notNull().default(false),
    autoCopyDeployments: boolean().notNull().default(false),
    /** The id of the chain's first version; rolling versions have none. */
    chainId: uuid(),
    /** The version that this one was increased from; each has at most one child. */
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
    versionId: ownedBy(() => version.id),
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
  (table) => [
    index('image_version').on(table.versionId, table.order),
    index('image_registry').on(table.registryId, table.name),
  ],
)
