export { findBundle } from './actions.ts'
export { configBundleRoutes } from './routes.ts'
export { lockBundles } from './store.ts'
