import type { icons } from '@crux/contract'
import { sql } from 'drizzle-orm'
import { type AnyPgColumn, customType, pgSchema, text, timestamp, uuid } from 'drizzle-orm/pg-core'

/** All tables of the product are in one schema of the one database, which the identity service shares. */
export const crux = pgSchema('crux')

/** UUID v7: new rows sort last, which keeps indexes dense. */
export const id = () => uuid().primaryKey().default(sql`uuidv7()`)
/** The row that a row belongs to, and with which it is deleted. */
export const ownedBy = (owner: () => AnyPgColumn) => uuid().notNull().references(owner, { onDelete: 'cascade' })
export const at = () => timestamp({ withTimezone: true, mode: 'date', precision: 3 })

/** Icons are written only from the contract's list. */
export type IconName = (typeof icons)[number]
export const icon = () => text().$type<IconName>()

/** Text that is encrypted with the key of the installation; reseal-secrets.ts lists these columns. */
export const sealedText = customType<{ data: string }>({ dataType: () => 'text' })

/** The creator and the last editor of a row. People are ids of the identity service, without a foreign key. */
export const audit = {
  createdAt: at().notNull().defaultNow(),
  createdBy: text().notNull(),
  updatedAt: at().notNull().defaultNow(),
  updatedBy: text().notNull(),
}
