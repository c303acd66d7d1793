export { createUncheckedRegistry, openRegistryToken } from './actions.ts'
export { secondsToWait } from './api/rate-limit.ts'
export { type Browser, createBrowser } from './browse.ts'
export { registryChannels } from './channel.ts'
export { cleanDeliveryKeys } from './deliveries.ts'
export { readDigest } from './digest.ts'
export {
  insertPublicRegistry,
  listMatchableRegistries,
  lockRegistries,
  type MatchableRegistry,
  type PublicRegistry,
} from './public-registry-store.ts'
export { type PullCredentials, toPullCredentials } from './pull-credentials.ts'
export { nameBelowPrefix, readRepositoryLabels } from './repository-labels.ts'
export { registryRoutes } from './routes.ts'
export { type RegistrySummary, selectRegistryKinds, toRegistry } from './store.ts'
