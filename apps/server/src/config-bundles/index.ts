export { findBundle } from './actions.ts'
export { configBundleRoutes } from './routes.ts'
export { holdBundles } from './store.ts'
