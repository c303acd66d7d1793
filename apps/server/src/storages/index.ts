export type { StorageAccess } from './access.ts'
export { heldStorages, holdStorage, storageAccess } from './actions.ts'
export { storageRoutes } from './routes.ts'
export { storageUrls } from './store.ts'
