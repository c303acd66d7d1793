import { sql } from 'drizzle-orm'
import {
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { at, audit, crux, icon, id, ownedBy, sealedText } from './columns.ts'
import { deployment, instance } from './deployments.ts'
import { image } from './projects.ts'
import { team } from './teams.ts'

/** A named base layer that several deployments may use. */
export const configBundle = crux.table(
  'config_bundle',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    description: text(),
    ...audit,
  },
  (table) => [
    uniqueIndex('config_bundle_name').on(table.teamId, table.name),
    unique('config_bundle_of_team').on(table.id, table.teamId),
  ],
)

/**
 * The bundles of a deployment, all of its own team. A bundle in use cannot be deleted. The check runs when the
 * statement ends, so that a team can still be deleted.
 */
export const deploymentConfigBundle = crux.table(
  'deployment_config_bundle',
  {
    deploymentId: uuid().notNull(),
    configBundleId: uuid().notNull(),
    teamId: uuid().notNull(),
    order: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deploymentId, table.configBundleId] }),
    foreignKey({
      columns: [table.deploymentId, table.teamId],
      foreignColumns: [deployment.id, deployment.teamId],
      name: 'deployment_config_bundle_deployment',
    }).onDelete('cascade'),
    foreignKey({
      columns: [table.configBundleId, table.teamId],
      foreignColumns: [configBundle.id, configBundle.teamId],
      name: 'deployment_config_bundle_bundle',
    }),
    index('deployment_config_bundle_by_bundle').on(table.configBundleId),
  ],
)

export const storage = crux.table(
  'storage',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    description: text(),
    icon: icon(),
    url: text().notNull(),
    /** Encrypted, and never selected by queries that serve responses. Both keys are null for a public storage. */
    accessKey: sealedText(),
    /** Encrypted, as above. */
    secretKey: sealedText(),
    ...audit,
  },
  (table) => [uniqueIndex('storage_name').on(table.teamId, table.name)],
)

/**
 * One layer of configuration. It belongs to exactly one owner and is deleted with it; `fields` is ContainerConfigFields
 * of the contract.
 */
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
    configBundleId: uuid()
      .unique()
      .references(() => configBundle.id, { onDelete: 'cascade' }),
    fields: jsonb().notNull().default({}),
    /** The storage that the layer imports from; it cannot be deleted. */
    storageId: uuid()
      .generatedAlwaysAs(sql`(fields -> 'storage' ->> 'storageId')::uuid`)
      .references(() => storage.id),
    /** Grows with every change. A patch may name the revision that it is based on, so that conflicts are detected. */
    revision: integer().notNull().default(1),
    updatedAt: at().notNull().defaultNow(),
    updatedBy: text(),
  },
  (table) => [
    index('container_config_storage').on(table.storageId),
    check(
      'container_config_owner',
      sql`num_nonnulls(${table.imageId}, ${table.instanceId}, ${table.deploymentId}, ${table.configBundleId}) = 1`,
    ),
  ],
)

/** The revision that last changed each part of a configuration: `environment.LOG_LEVEL`, `ports`. */
export const containerConfigChange = crux.table(
  'container_config_change',
  {
    configId: ownedBy(() => containerConfig.id),
    property: text().notNull(),
    revision: integer().notNull(),
    updatedBy: text().notNull(),
    updatedAt: at().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.configId, table.property] })],
)

/** The configuration after each of its changes, without values of secrets. */
export const containerConfigRevision = crux.table(
  'container_config_revision',
  {
    configId: ownedBy(() => containerConfig.id),
    revision: integer().notNull(),
    fields: jsonb().notNull(),
    changed: text().array().notNull(),
    updatedBy: text().notNull(),
    updatedAt: at().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.configId, table.revision] })],
)
