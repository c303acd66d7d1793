import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, audit, crux, id } from './columns.ts'

export const team = crux.table('team', {
  id: id(),
  name: text().notNull().unique(),
  slug: text().notNull().unique(),
  secondFactorRequired: boolean().notNull().default(false),
  /** Lower-case domains of the addresses that may be invited and accept; empty: all domains. */
  allowedDomains: text().array().notNull().default([]),
  ...audit,
})

export const teamMember = crux.table(
  'team_member',
  {
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    userId: text().notNull(),
    role: text({ enum: ['owner', 'admin', 'user'] }).notNull(),
    createdAt: at().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.userId] }), index('team_member_user').on(table.userId)],
)

/** Somebody who was asked to join; the row goes when he joins, or when he is removed. */
export const invitation = crux.table(
  'invitation',
  {
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    userId: text().notNull(),
    email: text().notNull(),
    /** As the inviter wrote it, for while the identity service cannot be asked. */
    name: text().notNull(),
    /** A pending one whose time is over counts as expired, whether or not that has been written down. */
    status: text({ enum: ['pending', 'expired', 'declined'] })
      .notNull()
      .default('pending'),
    invitedBy: text().notNull(),
    createdAt: at().notNull().defaultNow(),
    expiresAt: at().notNull(),
    /** When the last mail was asked for: the next one has to wait. */
    mailedAt: at().notNull().defaultNow(),
    /** Why the last mail was refused for good. */
    mailProblem: text(),
    /** SHA-256 of the secret in the mail's link. */
    secretHash: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    index('invitation_user').on(table.userId),
    uniqueIndex('invitation_email').on(table.teamId, sql`lower(${table.email})`),
  ],
)

export const auditLog = crux.table(
  'audit_log',
  {
    id: id(),
    createdAt: at().notNull().defaultNow(),
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    actorType: text({ enum: ['user', 'deployment-token', 'service-account'] }).notNull(),
    actorId: text().notNull(),
    /** Name and address as they were then. */
    actorName: text().notNull(),
    actorEmail: text(),
    context: text({ enum: ['http', 'ws', 'rpc'] }).notNull(),
    method: text({ enum: ['get', 'post', 'put', 'patch', 'delete'] }),
    /** The audit label of the contract with the operation: `registry registries.create`. */
    event: text().notNull(),
    /** False: the attempt was refused. */
    accepted: boolean().notNull().default(true),
    data: jsonb(),
    /** What the filter looks at, as trigrams. */
    search: text().generatedAlwaysAs(sql`lower(event || ' ' || actor_name || ' ' || coalesce(actor_email, ''))`),
  },
  (table) => [
    // `accepted` stands last so that pages and totals need no row.
    index('audit_log_newest').on(
      table.teamId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
      table.accepted,
    ),
    index('audit_log_search').using('gin', table.search.op('gin_trgm_ops')),
  ],
)

/**
 * How many entries of the audit log each quarter of an hour has, kept by triggers: counting a million rows takes a quarter of a
 * second, and seconds by days. Quarters, because days begin at a quarter of an hour of UTC in every time zone.
 */
export const auditCount = crux.table(
  'audit_count',
  {
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    /** When the quarter began; minus infinity in the row that holds the total. */
    quarter: at().notNull(),
    accepted: integer().notNull(),
    refused: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.quarter] })],
)

export const registry = crux.table(
  'registry',
  {
    id: id(),
    teamId: uuid()
      .notNull()
      .references(() => team.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    description: text(),
    icon: text(),
    type: text({ enum: ['v2', 'hub', 'gitlab', 'github', 'google', 'unchecked'] }).notNull(),
    url: text().notNull(),
    imageNamePrefix: text(),
    public: boolean().notNull().default(true),
    /** Unchecked registries only: images come from the engine's own store. */
    local: boolean().notNull().default(false),
    user: text(),
    /** Encrypted, never selected for reads (security.md 10). */
    token: text(),
    ...audit,
  },
  (table) => [uniqueIndex('registry_name').on(table.teamId, table.name)],
)
