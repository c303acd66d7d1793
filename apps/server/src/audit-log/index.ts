export { countEntriesOf } from './actions.ts'
export { recordAudit } from './record.ts'
export { keepAuditLog } from './retention.ts'
export { auditLogRoutes } from './routes.ts'
