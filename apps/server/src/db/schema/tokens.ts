import { sql } from 'drizzle-orm'
import { check, index, integer, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, id, ownedBy } from './columns.ts'
import { deployment } from './deployments.ts'
import { registry, team } from './teams.ts'

/** An account that acts in its team and is independent of people. A deleted one is kept, because its actions refer to its name. */
export const serviceAccount = crux.table(
  'service_account',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    description: text(),
    role: text({ enum: ['admin', 'user'] }).notNull(),
    deletedAt: at(),
    ...audit,
  },
  (table) => [uniqueIndex('service_account_name').on(table.teamId, table.name).where(sql`deleted_at is null`)],
)

/** Opaque tokens of people, service accounts, deployments and registries' hooks; each has exactly one holder. */
export const accessToken = crux.table(
  'access_token',
  {
    id: id(),
    userId: text(),
    serviceAccountId: uuid().references(() => serviceAccount.id, { onDelete: 'cascade' }),
    deploymentId: uuid().references(() => deployment.id, { onDelete: 'cascade' }),
    registryId: uuid().references(() => registry.id, { onDelete: 'cascade' }),
    /** Absent for people, whose tokens work in all of their teams. */
    teamId: uuid().references(() => team.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** The SHA-256 of the text. Null for a revoked token: the actions of the deployment's token refer to the row's name. */
    hash: text(),
    scope: text({ enum: ['read', 'deploy', 'full'] }).notNull(),
    /** The assurance of the session that created it, because a team may require a second factor. */
    aal: text({ enum: ['aal1', 'aal2'] }).notNull(),
    createdAt: at().notNull().defaultNow(),
    createdBy: text().notNull(),
    expiresAt: at(),
    lastUsedAt: at(),
  },
  (table) => [
    uniqueIndex('access_token_hash').on(table.hash),
    uniqueIndex('access_token_user_name').on(table.userId, table.name),
    uniqueIndex('access_token_service_account_name').on(table.serviceAccountId, table.name),
    uniqueIndex('access_token_deployment_name')
      .on(table.teamId, table.name)
      .where(sql`deployment_id is not null and hash is not null`),
    uniqueIndex('access_token_deployment').on(table.deploymentId).where(sql`hash is not null`),
    uniqueIndex('access_token_registry').on(table.registryId),
    index('access_token_team').on(table.teamId),
    index('access_token_of_deployment').on(table.deploymentId),
    check('access_token_holder', sql`num_nonnulls(user_id, service_account_id, deployment_id, registry_id) = 1`),
  ],
)

/** Counters of attempts, shared by all servers. The key is a keyed hash, so that no address is stored. */
export const rateLimit = crux.table('rate_limit', {
  key: text().primaryKey(),
  hits: integer().notNull(),
  resetsAt: at().notNull(),
})
