export type { Bus, BusEventOf } from './bus.ts'
export { createPostgresBus } from './postgres-bus.ts'
