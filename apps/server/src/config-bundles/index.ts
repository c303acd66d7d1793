export { findBundle, holdBundles } from './actions.ts'
export { configBundleRoutes } from './routes.ts'
