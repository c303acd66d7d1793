import { index, integer, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, icon, id, ownedBy } from './columns.ts'
import { node } from './nodes.ts'
import { project } from './projects.ts'
import { team } from './teams.ts'

/** Version chains that are deployed together. `package` is a reserved word in strict mode. */
export const packageTable = crux.table(
  'package',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    description: text(),
    icon: icon(),
    ...audit,
  },
  (table) => [uniqueIndex('package_name').on(table.teamId, table.name)],
)

export const packageChain = crux.table(
  'package_chain',
  {
    packageId: ownedBy(() => packageTable.id),
    /** There is no table of chains: the id is that of the first version, which may have been deleted. */
    chainId: uuid().notNull(),
    projectId: ownedBy(() => project.id),
    order: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.packageId, table.chainId] }),
    index('package_chain_project').on(table.projectId),
  ],
)

export const packageEnvironment = crux.table(
  'package_environment',
  {
    id: id(),
    packageId: ownedBy(() => packageTable.id),
    name: text().notNull(),
    nodeId: uuid()
      .notNull()
      .references(() => node.id, { onDelete: 'restrict' }),
    prefix: text().notNull(),
    /** The order in which versions are promoted. */
    order: integer().notNull(),
    ...audit,
  },
  (table) => [
    uniqueIndex('package_environment_name').on(table.packageId, table.name),
    index('package_environment_target').on(table.nodeId, table.prefix),
  ],
)

/** Times at which nothing may be deployed to the node and prefix of an environment. */
export const freezeWindow = crux.table(
  'freeze_window',
  {
    id: id(),
    environmentId: ownedBy(() => packageEnvironment.id),
    kind: text({ enum: ['weekly', 'once'] }).notNull(),
    reason: text().notNull(),
    /** For `weekly`: ISO days of the week, local times such as 09:30, and their time zone. */
    days: integer().array(),
    fromTime: text(),
    toTime: text(),
    timeZone: text(),
    /** For `once`. */
    startsAt: at(),
    endsAt: at(),
    ...audit,
  },
  (table) => [index('freeze_window_environment').on(table.environmentId)],
)

/** The history of an environment. It outlives versions and deployments, so that it repeats their names. */
export const packagePromotion = crux.table(
  'package_promotion',
  {
    id: id(),
    environmentId: ownedBy(() => packageEnvironment.id),
    versionId: uuid(),
    versionName: text().notNull(),
    projectId: uuid(),
    projectName: text().notNull(),
    fromEnvironmentId: uuid(),
    fromEnvironmentName: text(),
    note: text(),
    deploymentId: uuid(),
    releaseNumber: integer().notNull(),
    overrideFreeze: text(),
    createdAt: at().notNull().defaultNow(),
    createdById: text().notNull(),
    createdByName: text().notNull(),
    /** The end of the release, copied because the release is deleted with its deployment. */
    status: text({ enum: ['in-progress', 'successful', 'failed'] })
      .notNull()
      .default('in-progress'),
    reason: text(),
    finishedAt: at(),
  },
  (table) => [
    index('package_promotion_newest').on(
      table.environmentId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    uniqueIndex('package_promotion_release').on(table.deploymentId, table.releaseNumber),
  ],
)
