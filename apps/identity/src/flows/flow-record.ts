import type { flows } from '../db/schema.ts'

export type Flow = typeof flows.$inferSelect
