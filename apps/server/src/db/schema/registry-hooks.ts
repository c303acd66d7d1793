import { sql } from 'drizzle-orm'
import { check, index, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at, crux, id, ownedBy, sealedText } from './columns.ts'
import { registry } from './teams.ts'

/** The secret with which a foreign service proves its deliveries. Distribution registries use the registry's token instead. */
export const registryHook = crux.table(
  'registry_hook',
  {
    id: id(),
    registryId: ownedBy(() => registry.id),
    kind: text({ enum: ['hub', 'github', 'harbor'] }).notNull(),
    /** The SHA-256 of the text, where it only has to be compared. */
    hash: text(),
    /** Encrypted, where signatures have to be computed with it. */
    secret: sealedText(),
    createdAt: at().notNull().defaultNow(),
    createdBy: text().notNull(),
  },
  (table) => [
    uniqueIndex('registry_hook_kind').on(table.registryId, table.kind),
    check('registry_hook_secret', sql`num_nonnulls(hash, secret) = 1`),
  ],
)

/** The newest verified deliveries of a registry, for its page. */
export const registryDelivery = crux.table(
  'registry_delivery',
  {
    id: id(),
    registryId: ownedBy(() => registry.id),
    kind: text({ enum: ['v2', 'hub', 'github', 'harbor'] }).notNull(),
    event: text().notNull(),
    receivedAt: at().notNull().defaultNow(),
    images: jsonb().$type<{ name: string; tag?: string; digest?: string }[]>().notNull(),
    result: text({ enum: ['accepted', 'ignored', 'unknown'] }).notNull(),
  },
  (table) => [index('registry_delivery_newest').on(table.registryId, table.id.desc().nullsFirst())],
)

/** The deliveries that have counted. They are kept longer than the list, so that a repeated delivery is still recognized. */
export const registryDeliveryKey = crux.table(
  'registry_delivery_key',
  {
    registryId: ownedBy(() => registry.id),
    /** The SHA-256 of the kind and the id of the delivery. */
    key: text().notNull(),
    receivedAt: at().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.registryId, table.key] }),
    index('registry_delivery_key_received').on(table.receivedAt),
  ],
)
