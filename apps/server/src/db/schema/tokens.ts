import { sql } from 'drizzle-orm'
import { check, index, integer, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, id } from './columns.ts'
import { deployment } from './deployments.ts'
import { registry, team } from './teams.ts'

/** Acts in its team and does not die with a person. A deleted one stays as a name for what it did. */
export const serviceAccount = crux.table(
  'service_account',
  {
    id: id(),
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
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
    /** Absent for people: their tokens work in every team of theirs. */
    teamId: uuid().references(() => team.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** SHA-256 of the text. Null: revoked, the row stays as a name for what the deployment's token did. */
    hash: text(),
    scope: text({ enum: ['read', 'deploy', 'full'] }).notNull(),
    /** Assurance of the session that made it: a team may ask for a second factor. */
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

/** Counters of attempts, shared by all servers. The key is a keyed hash: no address stands here. */
export const rateLimit = crux.table('rate_limit', {
  key: text().primaryKey(),
  hits: integer().notNull(),
  resetsAt: at().notNull(),
})
