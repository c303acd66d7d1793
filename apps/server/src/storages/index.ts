export { keepStorage, storageAccess } from './actions.ts'
export type { StorageAccess } from './check.ts'
export { storageRoutes } from './routes.ts'
export { lockStorages, storageUrls } from './store.ts'
