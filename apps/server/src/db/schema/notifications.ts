import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at, audit, crux, id, ownedBy, sealedText } from './columns.ts'
import { team } from './teams.ts'

export const notification = crux.table(
  'notification',
  {
    id: id(),
    teamId: ownedBy(() => team.id),
    name: text().notNull(),
    type: text({ enum: ['discord', 'slack', 'teams', 'rocket', 'mattermost', 'email', 'webhook'] }).notNull(),
    /** Encrypted, because anyone who knows the address can post to it; null for e-mail. */
    url: sealedText(),
    /** What answers show of the address. */
    maskedUrl: text().notNull().default(''),
    /** For `webhook`, encrypted: the key of the signature. */
    secret: sealedText(),
    /** For `email`: the ids of the members. */
    memberIds: text().array().notNull().default([]),
    active: boolean().notNull().default(false),
    enabledEvents: text().array().notNull().default([]),
    /** Why Crux switched it off. */
    problem: text(),
    /** Until when its target wants no requests (`Retry-After`). */
    pausedUntil: at(),
    ...audit,
  },
  (table) => [uniqueIndex('notification_name').on(table.teamId, table.name)],
)

/** One message to one address or member. */
export const notificationDelivery = crux.table(
  'notification_delivery',
  {
    id: id(),
    notificationId: ownedBy(() => notification.id),
    /** For `email`: the id of the member; empty for the others. */
    recipientId: text().notNull().default(''),
    /** The event, so that it leads to one delivery however many servers handle it. */
    eventKey: text().notNull(),
    event: text().notNull(),
    text: text().notNull(),
    /** What the message is made of. */
    data: jsonb().notNull(),
    status: text({ enum: ['pending', 'delivered', 'failed', 'skipped'] })
      .notNull()
      .default('pending'),
    attempts: integer().notNull().default(0),
    statusCode: integer(),
    error: text(),
    createdAt: at().notNull().defaultNow(),
    lastAttemptAt: at(),
    nextAttemptAt: at(),
    /** When a server began the attempt that runs. The claim of a server that has ended is taken over after a minute. */
    claimedAt: at(),
    finishedAt: at(),
  },
  (table) => [
    uniqueIndex('notification_delivery_once').on(table.notificationId, table.recipientId, table.eventKey),
    index('notification_delivery_newest').on(
      table.notificationId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('notification_delivery_claimed')
      .on(table.notificationId)
      .where(sql`status = 'pending' and claimed_at is not null`),
    index('notification_delivery_due').on(table.nextAttemptAt).where(sql`status = 'pending'`),
    index('notification_delivery_age').on(table.createdAt),
  ],
)
