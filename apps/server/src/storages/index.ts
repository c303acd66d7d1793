export { holdStorage, storageAccess } from './actions.ts'
export type { StorageAccess } from './check.ts'
export { storageRoutes } from './routes.ts'
export { holdStorages, storageUrls } from './store.ts'
