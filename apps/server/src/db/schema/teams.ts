import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at, audit, crux, icon, id, ownedBy, sealedText } from './columns.ts'

export const team = crux.table('team', {
  id: id(),
  name: text().notNull().unique(),
  slug: text().notNull().unique(),
  secondFactorRequired: boolean().notNull().default(false),
  /** Lower-case domains of the addresses that may be invited and accept; empty allows all domains. */
  allowedDomains: text().array().notNull().default([]),
  ...audit,
})

export const teamMember = crux.table(
  'team_member',
  {
    teamId: ownedBy(() => team.id),
    userId: text().notNull(),
    role: text({ enum: ['owner', 'admin', 'user'] }).notNull(),
    createdAt: at().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.userId] }), index('team_member_user').on(table.userId)],
)

/** A user who was asked to join. The row is deleted when they join, or when they are removed. */
export const invitation = crux.table(
  'invitation',
  {
    teamId: ownedBy(() => team.id),
    userId: text().notNull(),
    email: text().notNull(),
    /** The name that the inviter wrote, shown while the identity service is unavailable. */
    name: text().notNull(),
    /** A pending invitation counts as expired after its time, even before the status is updated. */
    status: text({ enum: ['pending', 'expired', 'declined'] })
      .notNull()
      .default('pending'),
    invitedBy: text().notNull(),
    createdAt: at().notNull().defaultNow(),
    expiresAt: at().notNull(),
    /** When the last mail was requested; the next one has to wait. */
    mailedAt: at().notNull().defaultNow(),
    /** Why the last mail was permanently refused. */
    mailProblem: text(),
    /** The SHA-256 of the secret in the mail's link. */
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
    teamId: ownedBy(() => team.id),
    actorType: text({ enum: ['user', 'deployment-token', 'service-account'] }).notNull(),
    actorId: text().notNull(),
    /** Name and address at the time of the event. */
    actorName: text().notNull(),
    actorEmail: text(),
    context: text({ enum: ['http', 'ws', 'rpc'] }).notNull(),
    method: text({ enum: ['get', 'post', 'put', 'patch', 'delete'] }),
    /** The audit label of the contract with the operation: `registry registries.create`. */
    event: text().notNull(),
    /** False when the attempt was refused. */
    accepted: boolean().notNull().default(true),
    data: jsonb(),
    /** The text that the filter searches, as trigrams. */
    search: text().generatedAlwaysAs(sql`lower(event || ' ' || actor_name || ' ' || coalesce(actor_email, ''))`),
  },
  (table) => [
    // `accepted` is last so that pages and totals are index-only scans.
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
 * The number of audit log entries of each quarter of an hour, kept by triggers: counting a million rows takes a quarter
 * of a second, and counting them by days takes seconds. Quarters, because in every time zone days start at a quarter of
 * an hour of UTC.
 */
export const auditCount = crux.table(
  'audit_count',
  {
    teamId: ownedBy(() => team.id),
    /** When the quarter started; minus infinity in the row that has the total. */
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
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    description: text(),
    icon: icon(),
    type: text({ enum: ['v2', 'hub', 'gitlab', 'github', 'google', 'unchecked'] }).notNull(),
    url: text().notNull(),
    /** For a self-managed GitLab only: the address of its API, which gets the credential too. */
    apiUrl: text(),
    imageNamePrefix: text(),
    /** For GitLab and GitHub: what the prefix names. */
    namespace: text({ enum: ['group', 'project', 'organization', 'user'] }),
    public: boolean().notNull().default(true),
    /** For unchecked registries only: images come from the engine's own store. */
    local: boolean().notNull().default(false),
    user: text(),
    /** Encrypted, and never selected by queries that serve responses. */
    token: sealedText(),
    ...audit,
  },
  (table) => [uniqueIndex('registry_name').on(table.teamId, table.name)],
)
