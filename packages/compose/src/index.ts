export { convertCompose } from './convert/convert-compose.ts'
export type * from './model.ts'
