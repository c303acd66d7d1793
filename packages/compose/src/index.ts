export type * from './model.ts'
export { readCompose } from './read-compose.ts'
