import type { QuickActionSource } from './frame/quick-actions.ts'
import { bundleQuickActions } from './pages/config-bundles/quick-actions.ts'
import { deploymentQuickActions } from './pages/deployments/quick-actions.tsx'
import { nodeQuickActions } from './pages/nodes/quick-actions.tsx'
import { projectQuickActions } from './pages/projects/quick-actions.ts'
import { registryQuickActions } from './pages/registries/quick-actions.ts'
import { storageQuickActions } from './pages/storages/quick-actions.ts'
import { teamQuickActions } from './pages/teams/quick-actions.ts'

/** What the palette lists, in its order. */
export const quickActionSources: readonly QuickActionSource[] = [
  projectQuickActions,
  deploymentQuickActions,
  nodeQuickActions,
  registryQuickActions,
  bundleQuickActions,
  storageQuickActions,
  teamQuickActions,
]
