import type { flows } from './schema.ts'

export type Flow = typeof flows.$inferSelect
