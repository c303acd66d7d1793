export { convertCompose } from './convert/convert-compose.ts'
export { type ExportInput, exportCompose } from './export/export-compose.ts'
export type * from './model.ts'
export { readCompose } from './read-compose.ts'
